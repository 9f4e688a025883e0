#include "tests/differential/Program.h"

#include <fmt/format.h>

namespace wavesmith::differential {
namespace {

constexpr const char *kNames[kElements] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                           "i64", "u64", "f16", "bf16", "f32", "f64"};
constexpr int kBytes[kElements] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};

void print(const Node &node, int indent, std::string &out) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (node.kind == Node::Kind::Block) {
    for (const Node &child : node.children) {
      out += margin;
      print(child, indent, out);
      out += '\n';
    }
    return;
  }
  for (std::size_t i = 0; i < node.pieces.size(); ++i) {
    out += node.pieces[i];
    if (i == node.children.size())
      break;
    if (node.children[i].kind == Node::Kind::Block) {
      out += "{\n";
      print(node.children[i], indent + 2, out);
      out += margin + "}";
    } else {
      print(node.children[i], indent, out);
    }
  }
}

bool isNameCharacter(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

bool uses(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !isNameCharacter(text[at - 1])) &&
        (end == text.size() || !isNameCharacter(text[end])))
      return true;
  }
  return false;
}

} // namespace

bool Type::isSigned() const {
  return element == Element::I8 || element == Element::I16 || element == Element::I32 ||
         element == Element::I64;
}

int Type::elementBytes() const { return kBytes[static_cast<int>(element)]; }

std::string Type::name() const {
  std::string name = kNames[static_cast<int>(element)];
  if (width > 1)
    name += fmt::format("x{}", width);
  return name;
}

Node makeNode(Node::Kind kind, std::string_view pattern, std::vector<Node> children, Type type) {
  Node node{kind, type, {""}, std::move(children)};
  for (char c : pattern) {
    if (c == '$')
      node.pieces.emplace_back();
    else
      node.pieces.back() += c;
  }
  return node;
}

Node expression(Type type, std::string_view pattern, std::vector<Node> children) {
  return makeNode(Node::Kind::Expression, pattern, std::move(children), type);
}

Node statement(std::string_view pattern, std::vector<Node> children) {
  return makeNode(Node::Kind::Statement, pattern, std::move(children));
}

Node block(std::vector<Node> statements) {
  return {Node::Kind::Block, {}, {}, std::move(statements)};
}

std::string Program::name() const { return fmt::format("p{}", seed); }

int Program::stride() const { return (kOwnBytes + resultBytes + 15) / 16 * 16; }

std::string Program::source() const {
  std::string body;
  print(steps, 4, body);
  // Later functions use earlier ones, so what is used is known from the end.
  std::string helpers;
  for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
    if (!uses(body, function->name) && !uses(helpers, function->name))
      continue;
    std::string text = fmt::format("NOINLINE static {} {{\n", function->head);
    print(function->body, 2, text);
    helpers = text + "}\n" + helpers;
  }
  std::string members, types;
  for (const Declaration &member : state)
    if (uses(body, member.name) || uses(helpers, member.name))
      members += fmt::format("  {}\n", member.text);
  for (const Declaration &type : structs)
    if (uses(members, type.name))
      types += type.text + "\n";
  std::string open, close;
  if (!only.empty()) {
    open = fmt::format("#if !defined(__AMDGCN__) || defined(__{}__)\n", only);
    close = "#endif\n";
  }
  return fmt::format(R"({8}namespace {0} {{
LDS_ARRAY(lds, {1});
{2}struct State {{
{3}}};
{4}struct Program {{
  using State = {0}::State;
  static constexpr u32 kBlock = {5}, kLdsBytes = {1}, kStride = {6};
  template <class R> INLINE static void run(R &r) {{
{7}  }}
}};
}} // namespace {0}
PROGRAM_ENTRY({0})
{9})",
                     name(), ldsBytes, types, members, helpers, workItems, stride(), body, open,
                     close);
}

} // namespace wavesmith::differential
