// The statements of generated programs, functions, and the steps that a workgroup goes through.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "tests/differential/Exchanges.h"
#include "tests/differential/Generator.h"
#include "tests/differential/Matrices.h"

namespace wavesmith::differential {
namespace {

constexpr Type kU32{Element::U32, 1};
constexpr int kAtomicBytes = 128; ///< at the start of the LDS

struct StructMember {
  const char *name;
  Type type;
};
constexpr StructMember kMembers[] = {
    {"a", {Element::U8, 1}},  {"b", {Element::F16, 1}}, {"c", {Element::U32, 1}},
    {"d", {Element::I16, 3}}, {"e", {Element::F64, 1}}, {"f", {Element::U8, 1}},
};
constexpr const char *kStruct =
    "struct Record { u8 a; f16 b; u32 c; i16x3 d; f64 e; u8 f; };\n"
    "struct Tight { u32 a; u16 b[3]; u8 c[5]; u8 d; } __attribute__((packed));";

} // namespace

Generator::Generator(std::uint64_t seed) : random_(seed * 2 + 1) { program_.seed = seed; }

Node Generator::each(Node body, Node::Kind kind) {
  return makeNode(kind, "r.each([](State &s, const Item &c) INLINE $);", {std::move(body)});
}

void Generator::declare() {
  for (int i = 0, count = large_ ? random_.between(6, 11) : random_.between(3, 6); i < count; ++i) {
    const Type type = i == 0 ? kU32 : i < 4 ? anyScalar() : anyType();
    const std::string name = fmt::format("v{}", i);
    variables_.push_back({"s." + name, type});
    program_.state.push_back({name, fmt::format("{} {};", type.name(), name)});
  }
  for (int i = 0, count = random_.between(1, large_ ? 4 : 2); i < count; ++i) {
    const Type type = i == 0 ? kU32 : anyScalar();
    const std::string name = fmt::format("u{}", i);
    variables_.push_back({"s." + name, type, true});
    program_.state.push_back({name, fmt::format("{} {};", type.name(), name)});
  }
  for (int i = 0, count = random_.below(3); i < count; ++i) {
    const Type type = random_.chance(70) ? anyScalar() : anyType();
    const int size = 1 << random_.between(1, type.width > 4 ? 2 : 4);
    const std::string name = fmt::format("a{}", i);
    arrays_.push_back({"s." + name, type, size});
    program_.state.push_back({name, fmt::format("{} {}[{}];", type.name(), name, size)});
  }
  program_.structs.push_back({"Record", kStruct});
  for (int i = 0, count = random_.weighted({50, 20, 30}); i < count; ++i) {
    const std::string name = fmt::format("r{}", i);
    structs_.push_back("s." + name);
    program_.state.push_back({name, fmt::format("Record {};", name)});
  }
}

void Generator::function(int index) {
  Callable made{fmt::format("f{}", index), random_.chance(70) ? anyScalar() : anyType(), {}, false};
  made.recursive = random_.chance(25);
  std::string parameters;
  std::vector<Variable> outside;
  outside.swap(variables_);
  for (int i = 0, count = random_.between(1, 3); i < count; ++i) {
    const Type type = i == 0 && made.recursive ? made.result
                      : random_.chance(70)     ? anyScalar()
                                               : anyType();
    const std::string name = fmt::format("x{}", i);
    made.parameters.push_back(type);
    variables_.push_back({name, type, true});
    parameters += fmt::format("{} {}, ", type.name(), name);
  }
  inFunction_ = true;
  Node body = block();
  std::string head = fmt::format("{} {}(", made.result.name(), made.name);
  if (made.recursive) {
    head += "u32 n, ";
    std::string rest;
    for (std::size_t i = 1; i < made.parameters.size(); ++i)
      rest += fmt::format(", x{}", i);
    body.children.push_back(
        makeNode(Node::Kind::Fixed, "if (n == 0) return $;", {expr(made.result, 1)}));
    body.children.push_back(
        makeNode(Node::Kind::Fixed,
                 fmt::format("const {} inner = {}(n - 1, $, {}c);", made.result.name(), made.name,
                             rest.empty() ? "" : rest.substr(2) + ", "),
                 {expr(made.result, 2)}));
    variables_.push_back({"inner", made.result, true});
  }
  if (random_.chance(40)) {
    Node test = condition(2);
    body.children.push_back(statement("if ($) return $;", {std::move(test), expr(made.result, 2)}));
  }
  body.children.push_back(makeNode(Node::Kind::Fixed, "return $;", {expr(made.result, 3)}));
  inFunction_ = false;
  outside.swap(variables_);
  program_.functions.push_back({made.name, head + parameters + "const Item &c)", std::move(body)});
  functions_.push_back(made);
}

void Generator::procedure(int index) {
  const std::string name = fmt::format("q{}", index);
  divergent_ = true;
  Node body = statements(random_.between(1, 4), 1);
  divergent_ = false;
  program_.functions.push_back(
      {name, fmt::format("void {}(State &s, const Item &c)", name), std::move(body)});
  procedures_.push_back(name);
}

Node Generator::statements(int count, int depth) {
  Node result = block();
  for (int i = 0; i < count; ++i)
    result.children.push_back(oneStatement(depth));
  return result;
}

Node Generator::oneStatement(int depth) {
  const int deep = depth > 0 ? 1 : 0;
  switch (random_.weighted({50, 12 * deep, 12 * deep, 5 * deep, arrays_.empty() ? 0 : 10,
                            structs_.empty() ? 0 : 6, 5, 5, procedures_.empty() ? 0 : 5,
                            loops_ > 0 ? 5 : 0, 5})) {
  case 1:
    return branch(depth);
  case 2:
    return loop(depth);
  case 3:
    return choice(depth);
  case 4:
    return arrayStore();
  case 5:
    return structOperation();
  case 6:
    return sharedAtomic("c.shared");
  case 7:
    return ownAtomic();
  case 8:
    return statement(fmt::format("{}(s, c);", random_.among(procedures_)));
  case 9: {
    const char *jump = random_.pick({"break", "continue"});
    return statement(fmt::format("if ($) {};", jump), {condition(1)});
  }
  case 10: {
    const Type type = anyType();
    const int align = alignment(type);
    return statement(fmt::format("store<{0}, {1}>(c.own + ownAt<{1}>($), $);", type.name(), align),
                     {index(1), expr(type, 2)});
  }
  default:
    return assignment();
  }
}

std::optional<std::string> Generator::target(Type type) {
  std::vector<std::string> fitting;
  for (const Variable &v : variables_)
    if (v.type == type && !v.uniform)
      fitting.push_back(v.name);
  if (fitting.empty())
    return std::nullopt;
  return random_.among(fitting);
}

Node Generator::assignment() {
  const Variable *target = nullptr;
  do
    target = &random_.among(variables_);
  while (target->uniform && divergent_);
  uniform_ = target->uniform;
  Node value = expr(target->type, random_.between(1, 3));
  uniform_ = false;
  return statement(target->name + " = $;", {std::move(value)});
}

Node Generator::loop(int depth) {
  const std::string name = fmt::format("i{}", counters_++);
  program_.state.push_back({name, fmt::format("u32 {};", name)});
  const bool outer = divergent_;
  const bool uniform = !divergent_ && random_.chance(40);
  uniform_ = uniform;
  Node bound = index(1);
  uniform_ = false;
  divergent_ = divergent_ || !uniform;
  ++loops_;
  // A jump in the body makes lanes leave at different times, so it counts as divergent.
  divergent_ = true;
  Node body = statements(random_.between(1, 3), depth - 1);
  --loops_;
  divergent_ = outer;
  const int mask = random_.pick({3, 7});
  if (random_.chance(25)) {
    Node test = condition(1);
    return statement(fmt::format("for (s.{0} = 0; s.{0} < ($ & {1}) && $; ++s.{0}) $", name, mask),
                     {std::move(bound), std::move(test), std::move(body)});
  }
  return statement(fmt::format("for (s.{0} = 0; s.{0} < ($ & {1}); ++s.{0}) $", name, mask),
                   {std::move(bound), std::move(body)});
}

Node Generator::branch(int depth) {
  const bool outer = divergent_;
  const bool uniform = !divergent_ && random_.chance(30);
  uniform_ = uniform;
  Node test = condition(2);
  uniform_ = false;
  divergent_ = outer || !uniform;
  Node yes = statements(random_.between(1, 3), depth - 1);
  const bool both = random_.chance(50);
  Node no = both ? statements(random_.between(1, 3), depth - 1) : block();
  divergent_ = outer;
  if (!both)
    return statement("if ($) $", {std::move(test), std::move(yes)});
  return statement("if ($) $ else $", {std::move(test), std::move(yes), std::move(no)});
}

Node Generator::choice(int depth) {
  const bool outer = divergent_;
  divergent_ = true;
  const int outerLoops = std::exchange(loops_, 0); // a jump would mean the switch
  std::string pattern = "switch ($ & 7) { ";
  std::vector<Node> children = {index(2)};
  for (int i = 0, count = random_.between(2, 6); i < count; ++i) {
    pattern += fmt::format("case {}: $ ", i);
    if (random_.chance(75))
      pattern += "break; ";
    children.push_back(statements(1, depth - 1));
  }
  pattern += "default: $ }";
  children.push_back(statements(1, depth - 1));
  loops_ = outerLoops;
  divergent_ = outer;
  return statement(pattern, std::move(children));
}

Node Generator::arrayStore() {
  const Array &array = random_.among(arrays_);
  Node at = index(2);
  return statement(fmt::format("{}[$ & {}] = $;", array.name, array.size - 1),
                   {std::move(at), expr(array.type, 2)});
}

Node Generator::structOperation() {
  auto any = [&] { return random_.among(structs_); };
  const StructMember &member = random_.among(kMembers);
  const std::string one = any(), two = any();
  switch (random_.below(4)) {
  case 0:
    return statement(fmt::format("{} = {};", one, two));
  case 1: {
    // To another place of the same type, and back out of it.
    if (auto to = target(member.type))
      return statement(fmt::format("{} = {}.{};", *to, one, member.name));
    [[fallthrough]];
  }
  case 2:
    return statement(fmt::format("{}.{} = $;", one, member.name), {expr(member.type, 2)});
  default:
    // No padding: a copy through memory has no undefined bytes.
    return statement("{ Tight t = {$, {u16($), 2, 3}, {1, 2, 3, 4, u8($)}, 9}; "
                     "*(GLOBAL Tight *)(c.own + ownAt<1>($)) = t; }",
                     {index(1), index(1), index(1), index(1)});
  }
}

Node Generator::sharedAtomic(const std::string &base) {
  // Each address sees one kind of operation, so their order does not matter.
  struct Form {
    const char *call;
    Type type;
    int offset, count;
  };
  static constexpr Form kForms[] = {
      {"atomicAdd", {Element::U32, 1}, 0, 4},   {"atomicOr", {Element::U32, 1}, 16, 4},
      {"atomicXor", {Element::U64, 1}, 32, 2},  {"atomicMax", {Element::I32, 1}, 48, 4},
      {"atomicMin", {Element::I64, 1}, 64, 2},  {"atomicAdd", {Element::F32, 1}, 80, 2},
      {"atomicAdd", {Element::F64, 1}, 88, 1},  {"atomicAdd", {Element::U64, 1}, 96, 1},
      {"atomicMax", {Element::U32, 1}, 104, 2}, {"atomicSub", {Element::U32, 1}, 112, 2},
      {"atomicAdd", {Element::U16, 1}, 120, 2}, {"atomicXor", {Element::U8, 1}, 124, 4},
  };
  const Form &form = random_.among(kForms);
  Node at = index(1);
  // Sums of small whole numbers are exact in any order.
  const std::string value = form.type.isFloat() ? form.type.name() + "($ & 63)" : "$";
  return statement(fmt::format("{0}<{1}>({2} + {3} + $ % {4} * {5}, {6});", form.call,
                               form.type.name(), base, form.offset, form.count,
                               form.type.elementBytes(), value),
                   {std::move(at), expr(form.type.isFloat() ? kU32 : form.type, 2)});
}

Node Generator::ownAtomic() {
  // Nobody else's memory, so the value before is known too.
  const Type type =
      random_.pick({Type{Element::U32, 1}, Type{Element::U64, 1}, Type{Element::I32, 1},
                    Type{Element::I64, 1}, Type{Element::U16, 1}, Type{Element::U8, 1}});
  const char *op = random_.pick({"Add", "Sub", "And", "Or", "Xor", "Min", "Max", "Exchange"});
  const auto to = target(type);
  Node at = index(1);
  if (random_.chance(20)) {
    Node expected = expr(type, 1);
    return statement(fmt::format("atomicCompareExchange<{0}>(c.own + ownAt<{1}>($), $, $);",
                                 type.name(), type.bytes()),
                     {std::move(at), std::move(expected), expr(type, 2)});
  }
  return statement(fmt::format("{3}atomic{0}<{1}>(c.own + ownAt<{2}>($), $);", op, type.name(),
                               type.bytes(), to ? *to + " = " : ""),
                   {std::move(at), expr(type, 2)});
}

Node Generator::initialisation() {
  Node body = block();
  for (const Variable &v : variables_) {
    const int align = v.type.width == 3 ? v.type.elementBytes() : 1;
    if (v.uniform) {
      const char *from = random_.pick({"a", "b", "c", "d", "e", "f", "g", "h"});
      body.children.push_back(
          statement(fmt::format("{0} = convert<{1}>(c.p.{2}) + {1}({3});", v.name, v.type.name(),
                                from, random_.below(100))));
    } else if (random_.chance(30)) { // numbers of moderate size
      body.children.push_back(statement(
          fmt::format("{} = resize<{}>(convert<{}>(load<i8x16, 1>(c.in + inputAt<1>(c.id * {}))));",
                      v.name, v.type.name(), v.type.with(16).name(), random_.between(1, 31))));
    } else {
      const int factor = random_.between(1, 63);
      body.children.push_back(
          statement(fmt::format("{0} = load<{1}, {2}>(c.in + inputAt<{2}>(c.id * {3} + {4}));",
                                v.name, v.type.name(), align, factor, random_.below(4096))));
    }
  }
  for (const Array &array : arrays_)
    body.children.push_back(statement(fmt::format(
        "for (u32 i = 0; i < {0}; ++i) {1}[i] = load<{2}, {3}>(c.in + inputAt<{3}>("
        "c.id * 16 + i * {4}));",
        array.size, array.name, array.type.name(), array.type.elementBytes(), array.type.bytes())));
  for (const std::string &name : structs_)
    body.children.push_back(statement(fmt::format("{}.c = c.id; {}.d = i16x3(5);", name, name)));
  return each(std::move(body), Node::Kind::Fixed);
}

Node Generator::results() {
  Node body = block();
  int offset = kOwnBytes;
  auto result = [&](const std::string &what, Type type) {
    body.children.push_back(
        statement(fmt::format("store<{}, 1>(c.own + {}, {});", type.name(), offset, what)));
    offset += type.bytes();
  };
  for (const Variable &v : variables_)
    result(v.name, v.type);
  for (const Array &array : arrays_)
    for (int i = 0; i < array.size; ++i)
      result(fmt::format("{}[{}]", array.name, i), array.type);
  for (const std::string &name : structs_)
    for (const StructMember &member : kMembers)
      result(fmt::format("{}.{}", name, member.name), member.type);
  program_.resultBytes = offset - kOwnBytes;
  return each(std::move(body), Node::Kind::Fixed);
}

void Generator::ldsRound(std::vector<Node> &steps) {
  Node stores = block();
  std::vector<Slot> made;
  int offset = kAtomicBytes;
  for (int i = 0, count = random_.between(1, 3); i < count; ++i) {
    Slot slot;
    slot.type = anyType();
    if (slot.type.bytes() > 64)
      slot.type = slot.type.scalar();
    slot.align = alignment(slot.type);
    slot.stride = (slot.type.bytes() + slot.align - 1) / slot.align * slot.align;
    if (random_.chance(40))
      slot.stride += slot.align;
    offset = (offset + 15) / 16 * 16;
    slot.offset = offset;
    offset += slot.stride * program_.workItems;
    Node value = expr(slot.type, 2);
    stores.children.push_back(
        statement(fmt::format("store<{}, {}>(c.lds + {} + (c.local + {}) % {} * {}, $);",
                              slot.type.name(), slot.align, slot.offset,
                              random_.below(program_.workItems), program_.workItems, slot.stride),
                  {std::move(value)}));
    made.push_back(slot);
  }
  for (int i = 0, count = random_.below(3); i < count; ++i)
    stores.children.push_back(sharedAtomic("c.lds"));
  program_.ldsBytes = std::max(program_.ldsBytes, offset);
  steps.push_back(each(std::move(stores), Node::Kind::Fixed));
  steps.push_back(makeNode(Node::Kind::Fixed, "r.barrier();"));
  slots_ = made;
  Node reads = statements(random_.between(2, 5), 1);
  for (const Slot &slot : made)
    if (auto to = target(slot.type))
      reads.children.push_back(statement(fmt::format("{} = load<{}, {}>(c.lds + {} + $ % {} * {});",
                                                     *to, slot.type.name(), slot.align, slot.offset,
                                                     program_.workItems, slot.stride),
                                         {index(2)}));
  reads.children.push_back(
      statement(fmt::format("s.v0 ^= load<u32, 4>(c.lds + c.local % {} * 4);", kAtomicBytes / 4)));
  slots_.clear();
  steps.push_back(each(std::move(reads), Node::Kind::Fixed));
  steps.push_back(makeNode(Node::Kind::Fixed, "r.barrier();"));
}

Node Generator::exchange() {
  auto drawn = [&] { return random_.chance(10) ? drawMatrix(random_) : drawExchange(random_); };
  Exchange chosen = drawn();
  while (chosen.needsFullWaves && program_.workItems % 64 != 0)
    chosen = drawn();
  if (!chosen.only.empty())
    program_.only = chosen.only;
  // Some lanes off, where what happens then is defined.
  Node when = expression({Element::U8, 1}, "true");
  if (!chosen.needsAllLanes && random_.chance(40))
    when = condition(2);
  std::vector<Node> children = {std::move(when)};
  std::string arguments;
  for (Type type : chosen.arguments) {
    arguments += arguments.empty() ? "$" : ", $";
    children.push_back(expr(type, 2));
  }
  // Lanes that take no part keep 0.
  const std::string name = fmt::format("x{}", exchanges_++);
  program_.state.push_back({name, fmt::format("{} {};", chosen.result.name(), name)});
  variables_.push_back({"s." + name, chosen.result});
  return statement(
      fmt::format(
          "r.template exchange<{0}>([](State &s, const Item &c) INLINE -> bool {{ return $; "
          "}}, [](State &s, const Item &c) INLINE -> {0}::Args {{ return {{{1}}}; }}, "
          "[](State &s, {0}::Result x) INLINE {{ s.{2} = x; }});",
          chosen.name, arguments, name),
      std::move(children));
}

Program Generator::take() {
  program_.workItems = random_.pick({64, 64, 64, 128, 96, 256, 33});
  // What goes wrong mostly goes wrong in few statements, and compiling is what a run takes.
  large_ = random_.chance(20);
  declare();
  for (int i = 0, count = random_.below(large_ ? 3 : 2); i < count; ++i)
    function(i);
  for (int i = 0, count = random_.below(2); i < count; ++i)
    procedure(i);
  std::vector<Node> steps;
  steps.push_back(makeNode(Node::Kind::Fixed, "r.clearLds();"));
  steps.push_back(initialisation());
  for (int i = 0, count = large_ ? random_.between(1, 3) : 1; i < count; ++i) {
    steps.push_back(each(statements(large_ ? random_.between(3, 7) : random_.between(2, 5), 2)));
    if (random_.chance(30))
      ldsRound(steps);
    for (int k = 0, most = random_.weighted({50, 30, 20}); k < most; ++k)
      steps.push_back(exchange());
  }
  steps.push_back(results());
  program_.steps = block(std::move(steps));
  return std::move(program_);
}

Program exchangeProgram(std::uint64_t seed, const Exchange &exchange) {
  Program program;
  program.seed = seed;
  program.only = exchange.only;
  program.ldsBytes = std::max(program.ldsBytes, exchange.ldsBytes);
  program.resultBytes = exchange.result.bytes();
  program.state = {{"x", exchange.result.name() + " x;"}};
  std::string arguments;
  for (std::size_t i = 0; i < exchange.arguments.size(); ++i)
    arguments += fmt::format("{}load<{}, 4>(c.in + inputAt<4>(c.id * 52 + {}))", i ? ", " : "",
                             exchange.arguments[i].name(), 16 * i);
  if (exchange.ldsBytes)
    arguments += ", c.lds";
  program.steps = block(
      {makeNode(Node::Kind::Fixed,
                fmt::format("r.template exchange<{0}>([](State &, const Item &) INLINE -> bool "
                            "{{ return true; }}, [](State &, const Item &c) INLINE -> {0}::Args "
                            "{{ return {{{1}}}; }}, [](State &s, {0}::Result x) INLINE {{ s.x = x; "
                            "}});",
                            exchange.name, arguments)),
       makeNode(Node::Kind::Fixed,
                fmt::format("r.each([](State &s, const Item &c) INLINE {{ store<{}, 4>(c.own + {}, "
                            "s.x); }});",
                            exchange.result.name(), kOwnBytes))});
  return program;
}

Program generate(std::uint64_t seed) { return Generator(seed).take(); }

} // namespace wavesmith::differential
