#pragma once
// Draws a program from a seed. The same seed gives the same program on every machine. What is drawn
// has one result by construction: no undefined behaviour (the prelude's operations are total), no
// order between work-items that barriers do not fix, no NaN payload that becomes visible.

#include <optional>

#include "tests/differential/Exchanges.h"
#include "tests/differential/Program.h"
#include "tests/differential/Random.h"

namespace wavesmith::differential {

/// The program of `seed`, for both targets: the prelude writes out for gfx942 what only gfx950 has.
Program generate(std::uint64_t seed);

/// One wave loads arguments, does `exchange` and stores its result.
Program exchangeProgram(std::uint64_t seed, const Exchange &exchange);

/// Grammar and state of one program in the making.
class Generator {
public:
  explicit Generator(std::uint64_t seed);
  Program take();

private:
  struct Variable {
    std::string name; ///< as it is written: "s.v3", "x"
    Type type;
    bool uniform = false;
  };
  struct Array {
    std::string name;
    Type type;
    int size = 0; ///< a power of two
  };
  struct Callable {
    std::string name;
    Type result;
    std::vector<Type> parameters;
    bool recursive = false;
  };
  /// A place in the LDS that every work-item wrote before the barrier.
  struct Slot {
    int offset = 0, stride = 0, align = 1;
    Type type;
  };

  // Expressions.cpp
  Type anyType();
  Type anyScalar();
  Node expr(Type type, int depth);
  Node leaf(Type type);
  Node literal(Type type);
  Node condition(int depth);
  Node index(int depth) { return expr({Element::U32, 1}, depth); }
  Node memory(Type type, int depth);
  Node arithmetic(Type type, int depth);
  Node integerOperation(Type type, int depth);
  Node floatOperation(Type type, int depth);
  Node conversion(Type type, int depth);
  Node reshape(Type type, int depth);
  Node reduction(Type type, int depth);
  Node selection(Type type, int depth);
  std::optional<Node> call(Type type, int depth);
  std::optional<Node> builtin(Type type, int depth);
  std::optional<Node> variable(Type type);
  int alignment(Type type);

  // Statements.cpp
  Node statements(int count, int depth);
  Node oneStatement(int depth);
  Node assignment();
  std::optional<std::string> target(Type type); ///< a variable that lanes may differ in
  Node loop(int depth);
  Node branch(int depth);
  Node choice(int depth);
  Node arrayStore();
  Node structOperation();
  Node sharedAtomic(const std::string &base);
  Node ownAtomic();
  void declare();
  void function(int index);
  void procedure(int index);
  Node exchange();
  void ldsRound(std::vector<Node> &steps);
  Node each(Node body, Node::Kind kind = Node::Kind::Statement);
  Node initialisation();
  Node results();

  Random random_;
  Program program_;
  std::vector<Variable> variables_; ///< visible here: members of the state, or parameters
  std::vector<Array> arrays_;
  std::vector<std::string> structs_; ///< members, all of one type
  std::vector<Callable> functions_;
  std::vector<std::string> procedures_;
  std::vector<Slot> slots_;
  bool large_ = false;
  bool uniform_ = false;   ///< the expression must be the same in all lanes
  bool divergent_ = false; ///< the statement may run for some lanes only
  bool inFunction_ = false;
  int loops_ = 0, counters_ = 0, exchanges_ = 0;
};

} // namespace wavesmith::differential
