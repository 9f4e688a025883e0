#include "tests/differential/Reducer.h"

#include <fmt/format.h>

namespace wavesmith::differential {
namespace {

class Reducer {
public:
  Reducer(Program program, const std::function<bool(const Program &)> &fails)
      : program_(std::move(program)), fails_(fails) {}

  Program run() {
    do {
      progress_ = false;
      shrink(program_.steps);
      for (Program::Function &function : program_.functions)
        shrink(function.body);
    } while (progress_);
    return std::move(program_);
  }

private:
  /// Keeps `replacement` in the place of `part` when the program still fails.
  template <class T> bool replace(T &part, T replacement) {
    std::swap(part, replacement);
    if (fails_(program_)) {
      progress_ = true;
      return true;
    }
    std::swap(part, replacement);
    return false;
  }

  void shrink(Node &node) {
    if (node.kind == Node::Kind::Block)
      dropStatements(node);
    else if (node.kind == Node::Kind::Expression)
      simplify(node);
    for (Node &child : node.children)
      shrink(child);
    if (node.kind == Node::Kind::Block)
      unwrap(node);
  }

  /// Runs of statements, long ones first.
  void dropStatements(Node &block) {
    for (std::size_t length = block.children.size(); length > 0; length /= 2)
      for (std::size_t at = 0; at < block.children.size();) {
        std::vector<Node> kept;
        std::size_t dropped = 0;
        for (std::size_t i = 0; i < block.children.size(); ++i) {
          const Node &child = block.children[i];
          if (i >= at && i < at + length && child.kind == Node::Kind::Statement)
            ++dropped;
          else
            kept.push_back(child);
        }
        if (dropped == 0 || !replace(block.children, std::move(kept)))
          at += length;
      }
  }

  /// A branch or a loop becomes what is in it.
  void unwrap(Node &block) {
    for (std::size_t i = 0; i < block.children.size(); ++i)
      for (std::size_t c = 0; c < block.children[i].children.size(); ++c) {
        if (block.children[i].kind != Node::Kind::Statement ||
            block.children[i].children[c].kind != Node::Kind::Block)
          continue;
        std::vector<Node> flat(block.children.begin(),
                               block.children.begin() + static_cast<std::ptrdiff_t>(i));
        const std::vector<Node> &inner = block.children[i].children[c].children;
        flat.insert(flat.end(), inner.begin(), inner.end());
        flat.insert(flat.end(), block.children.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    block.children.end());
        if (replace(block.children, std::move(flat)))
          break;
      }
  }

  static void parts(const Node &node, Type type, std::vector<Node> &found) {
    for (const Node &child : node.children) {
      if (child.kind == Node::Kind::Expression && child.type == type)
        found.push_back(child);
      else
        parts(child, type, found);
    }
  }

  void simplify(Node &node) {
    const Node one = expression(node.type, fmt::format("{0}(1)", node.type.name()));
    if (!node.children.empty() && replace(node, one))
      return;
    for (bool again = true; again;) {
      again = false;
      std::vector<Node> candidates;
      parts(node, node.type, candidates);
      for (Node &candidate : candidates)
        if (replace(node, std::move(candidate))) {
          again = true;
          break;
        }
    }
  }

  Program program_;
  const std::function<bool(const Program &)> &fails_;
  bool progress_ = false;
};

int count(const Node &node) {
  int total = 0;
  for (const Node &child : node.children)
    total += count(child) + (node.kind == Node::Kind::Block ? 1 : 0);
  return total;
}

} // namespace

Program reduce(Program program, const std::function<bool(const Program &)> &fails) {
  return Reducer(std::move(program), fails).run();
}

int countStatements(const Program &program) {
  int total = count(program.steps);
  for (const Program::Function &function : program.functions)
    if (program.source().find(function.name + "(") != std::string::npos)
      total += count(function.body);
  return total;
}

} // namespace wavesmith::differential
