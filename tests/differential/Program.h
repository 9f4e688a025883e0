#pragma once
// A generated program as a tree that can be printed and cut: every statement may be left out, every
// expression be replaced by another of its type, and the rest still compiles and has no undefined
// behaviour. Values; not shared between threads.

#include <cstdint>
#include <string>
#include <vector>

namespace wavesmith::differential {

enum class Element : std::uint8_t { I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64 };
inline constexpr int kElements = 12;

struct Type {
  Element element = Element::U32;
  int width = 1; ///< 1, 2, 3, 4, 8 or 16
  bool operator==(const Type &) const = default;

  bool isFloat() const { return element >= Element::F16; }
  bool isSigned() const; ///< of integers
  int elementBytes() const;
  int bytes() const { return elementBytes() * width; } ///< as stored, without padding
  std::string name() const;                            ///< "u32", "f16x3"
  Type scalar() const { return {element, 1}; }
  Type with(int newWidth) const { return {element, newWidth}; }
};

struct Node {
  enum class Kind : std::uint8_t {
    Expression, ///< of `type`
    Statement,  ///< may be left out
    Fixed,      ///< a statement that stays: initialisation, barriers
    Block,      ///< statements, one a line
  };
  Kind kind = Kind::Statement;
  Type type;
  std::vector<std::string> pieces; ///< text around the children: one more than these; not of blocks
  std::vector<Node> children;
};

/// '$' in `pattern` stands for the next child.
Node makeNode(Node::Kind kind, std::string_view pattern, std::vector<Node> children = {},
              Type type = {});
Node expression(Type type, std::string_view pattern, std::vector<Node> children = {});
Node statement(std::string_view pattern, std::vector<Node> children = {});
Node block(std::vector<Node> statements = {});

struct Program {
  std::uint64_t seed = 0;
  int workItems = 64; ///< of a workgroup
  std::string only;   ///< the one target that it can be compiled for; empty: both
  int ldsBytes = 16;
  int resultBytes = 0;
  struct Declaration {
    std::string name, text; ///< left out when no text uses the name
  };
  std::vector<Declaration> state;
  std::vector<Declaration> structs;
  struct Function {
    std::string name, head;
    Node body; ///< a block
  };
  std::vector<Function> functions; ///< each uses only earlier ones
  Node steps;                      ///< a block: what Program::run does

  std::string name() const;   ///< of its namespace: "p" and the seed
  std::string source() const; ///< without the prelude
  int stride() const;         ///< bytes of one work-item in the output buffer
};

inline constexpr int kOwnBytes = 256; ///< as in the prelude: before the results
inline constexpr int kSharedBytes = 1024;
inline constexpr int kInputBytes = 8192;
inline constexpr int kGroups = 2;

} // namespace wavesmith::differential
