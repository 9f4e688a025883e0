// The expressions of generated programs.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/differential/Builtins.h"
#include "tests/differential/Generator.h"

namespace wavesmith::differential {
namespace {

constexpr Type kU32{Element::U32, 1};

constexpr std::uint64_t kIntegers[] = {0,
                                       1,
                                       2,
                                       7,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x10001,
                                       12345,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x7fffffffffffffff,
                                       0x8000000000000000,
                                       0xffffffffffffffff,
                                       0x0123456789abcdef};
// Ones, halves, largest, least normal, subnormals, infinities, NaN and ordinary numbers.
constexpr std::uint64_t kHalf[] = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0x7bff, 0x0400,
                                   0x03ff, 0x0001, 0x7c00, 0xfc00, 0x7e00, 0x4248, 0xc500};
// LLVM 22 turns 0 - x of bfloat16 into -x on gfx950, so no constant zero.
constexpr std::uint64_t kBrain[] = {0x8000, 0x3f80, 0xbf80, 0x3f00, 0x7f7f, 0x0080, 0x007f,
                                    0x0001, 0x7f80, 0xff80, 0x7fc0, 0x4049, 0xc0a0};
constexpr std::uint64_t kSingle[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000,
                                     0x7f7fffff, 0x00800000, 0x007fffff, 0x00000001, 0x7f800000,
                                     0xff800000, 0x7fc00000, 0x40490fdb, 0xc2f6e979, 0x4b800001};
constexpr std::uint64_t kDouble[] = {0,
                                     0x8000000000000000,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     0x3fe0000000000000,
                                     0x7fefffffffffffff,
                                     0x0010000000000000,
                                     0x000fffffffffffff,
                                     0x0000000000000001,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000000,
                                     0x400921fb54442d18,
                                     0xc05edd2f1a9fbe77};

std::span<const std::uint64_t> patterns(Type type) {
  switch (type.element) {
  case Element::F16:
    return kHalf;
  case Element::BF16:
    return kBrain;
  case Element::F32:
    return kSingle;
  case Element::F64:
    return kDouble;
  default:
    return kIntegers;
  }
}

} // namespace

Type Generator::anyScalar() { return {static_cast<Element>(random_.below(kElements)), 1}; }

Type Generator::anyType() {
  constexpr int kWidths[] = {1, 2, 3, 4, 8, 16};
  return anyScalar().with(kWidths[random_.weighted({50, 16, 12, 12, 6, 4})]);
}

int Generator::alignment(Type type) {
  int natural = type.width == 3 ? type.elementBytes() : std::min(type.bytes(), 16);
  return random_.pick({1, type.elementBytes(), natural, natural});
}

Node Generator::literal(Type type) {
  const auto from = patterns(type);
  auto one = [&] {
    return fmt::format("literal<{}>({:#x})", type.scalar().name(), random_.among(from));
  };
  if (type.width == 1)
    return expression(type, one());
  // LLVM 22 makes nonsense of some constants of bfloat16 (llvm_bugs/select_of_constants.ll).
  const Type made = type.element == Element::BF16 && type.width == 3 ? type.with(4) : type;
  std::string text;
  if (random_.chance(50)) {
    text = fmt::format("{}({})", made.name(), one());
  } else {
    for (int i = 0; i < made.width; ++i)
      text += (i ? ", " : "") + one();
    text = fmt::format("{}{{{}}}", made.name(), text);
  }
  if (type.element == Element::BF16)
    text = fmt::format("opaque({})", text);
  return expression(type, made == type ? text : fmt::format("resize<{}>({})", type.name(), text));
}

std::optional<Node> Generator::variable(Type type) {
  std::vector<const Variable *> fitting;
  for (const Variable &v : variables_)
    if (v.type == type && (v.uniform || !uniform_))
      fitting.push_back(&v);
  if (fitting.empty())
    return std::nullopt;
  const int at = random_.below(static_cast<int>(fitting.size()));
  return expression(type, fitting[static_cast<std::size_t>(at)]->name);
}

Node Generator::leaf(Type type) {
  if (random_.chance(85))
    if (auto found = variable(type))
      return *found;
  if (random_.chance(25))
    return literal(type);
  if (type == kU32 && random_.chance(40))
    return expression(type, uniform_ ? "c.group" : random_.pick({"c.local", "c.id", "c.group"}));
  // Some variable, made to fit.
  std::vector<const Variable *> usable;
  for (const Variable &v : variables_)
    if (v.uniform || !uniform_)
      usable.push_back(&v);
  if (usable.empty() || random_.chance(15)) {
    const char *member = random_.pick({"a", "b", "c", "d", "e", "f", "g", "h"});
    const std::string text = fmt::format("convert<{}>(c.p.{})", type.scalar().name(), member);
    return expression(type, type.width == 1 ? text : fmt::format("{}({})", type.name(), text));
  }
  const Variable &v = *random_.among(usable);
  const Type same = type.with(v.type.width);
  const std::string text =
      v.type.element == type.element ? v.name : fmt::format("convert<{}>({})", same.name(), v.name);
  if (same == type)
    return expression(type, text);
  return expression(type, fmt::format("resize<{}>({})", type.name(), text));
}

Node Generator::expr(Type type, int depth) {
  if (depth <= 0 || random_.chance(12))
    return leaf(type);
  switch (random_.weighted({46, 14, 10, 8, 6, 6, 8})) {
  case 0:
    return arithmetic(type, depth);
  case 1:
    return conversion(type, depth);
  case 2:
    return selection(type, depth);
  case 3:
    return memory(type, depth);
  case 4:
    return reshape(type, depth);
  case 5:
    return type.width == 1 ? reduction(type, depth) : reshape(type, depth);
  default:
    if (auto node = random_.chance(50) ? call(type, depth) : builtin(type, depth))
      return *node;
    return arithmetic(type, depth);
  }
}

Node Generator::arithmetic(Type type, int depth) {
  return type.isFloat() ? floatOperation(type, depth) : integerOperation(type, depth);
}

Node Generator::integerOperation(Type type, int depth) {
  struct Form {
    const char *pattern;
    int operands, weight;
  };
  static constexpr Form kForms[] = {
      {"$ + $", 2, 12},
      {"$ - $", 2, 10},
      {"$ * $", 2, 10},
      {"$ & $", 2, 8},
      {"$ | $", 2, 8},
      {"$ ^ $", 2, 8},
      {"~$", 1, 4},
      {"-$", 1, 4},
      {"shiftLeft($, $)", 2, 8},
      {"shiftRight($, $)", 2, 8},
      {"rotate($, $)", 2, 4},
      {"funnelLeft($, $, $)", 3, 4},
      {"funnelRight($, $, $)", 3, 4},
      {"__builtin_elementwise_min($, $)", 2, 5},
      {"__builtin_elementwise_max($, $)", 2, 5},
      {"middle($, $, $)", 3, 4},
      {"__builtin_elementwise_add_sat($, $)", 2, 4},
      {"__builtin_elementwise_sub_sat($, $)", 2, 4},
      {"quotient($, $)", 2, 4},
      {"remainder($, $)", 2, 4},
      {"multiplyHigh($, $)", 2, 4},
      {"__builtin_elementwise_popcount($)", 1, 4},
      {"__builtin_elementwise_bitreverse($)", 1, 4},
      {"countLeadingZeros($)", 1, 4},
      {"countTrailingZeros($)", 1, 4},
      {"swapBytes($)", 1, 3},
      {"($ << 3) + $", 2, 3},
      {"$ * $ + $", 3, 5},
      {"$ + $ + $", 3, 4},
      {"($ & $) | (~$ & $)", 4, 3},
      {"($ >> 3) & 7", 1, 3},
  };
  std::array<int, std::size(kForms)> weights;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = kForms[i].weight;
  const Form &form = kForms[random_.weighted(weights)];
  std::vector<Node> operands;
  for (int i = 0; i < form.operands; ++i)
    operands.push_back(expr(type, depth - 1));
  std::string pattern = form.pattern;
  // LLVM 22 drops some constants of these (llvm_bugs/or_with_ones.ll).
  if (type.width == 2 && type.elementBytes() == 4) {
    if (pattern == "$ | $")
      pattern = "opaque($) | opaque($)";
    else if (pattern == "($ & $) | (~$ & $)")
      pattern = "opaque($ & $) | opaque(~$ & $)";
  }
  // It takes products of bytes for others (llvm_bugs/dot_of_products.ll).
  if (type.bytes() == 1 && pattern.starts_with("$ * $"))
    pattern.replace(0, 5, "opaque(u32($ * $))");
  return expression(type, fmt::format("{}({})", type.name(), pattern), std::move(operands));
}

Node Generator::floatOperation(Type type, int depth) {
  struct Form {
    const char *pattern;
    int operands, weight;
    bool brain; ///< rounded once for bfloat16 too
  };
  static constexpr Form kForms[] = {
      {"$ + $", 2, 14, true},
      {"$ - $", 2, 10, true},
      {"$ * $", 2, 14, true},
      {"quotient($, $)", 2, 6, true},
      {"fused($, $, $)", 3, 10, false},
      {"__builtin_elementwise_sqrt($)", 1, 5, true},
      {"minNumber($, $)", 2, 5, true},
      {"maxNumber($, $)", 2, 5, true},
      {"__builtin_elementwise_minimum($, $)", 2, 3, true},
      {"__builtin_elementwise_maximum($, $)", 2, 3, true},
      {"-$", 1, 4, true},
      {"__builtin_elementwise_abs($)", 1, 4, true},
      {"copySign($, $)", 2, 4, true},
      {"__builtin_elementwise_floor($)", 1, 3, true},
      {"__builtin_elementwise_ceil($)", 1, 3, true},
      {"__builtin_elementwise_trunc($)", 1, 3, true},
      {"__builtin_elementwise_roundeven($)", 1, 3, true},
      {"__builtin_elementwise_round($)", 1, 3, true},
      {"remainder($, $)", 2, 1, false},
  };
  if (type.element != Element::BF16 && random_.chance(4))
    return expression(type, "scaleByPower($, $)",
                      {expr(type, depth - 1), expr({Element::I32, 1}, depth - 1)});
  std::array<int, std::size(kForms)> weights;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = kForms[i].brain || type.element != Element::BF16 ? kForms[i].weight : 0;
  const Form &form = kForms[random_.weighted(weights)];
  std::vector<Node> operands;
  for (int i = 0; i < form.operands; ++i)
    operands.push_back(expr(type, depth - 1));
  return expression(type, fmt::format("{}({})", type.name(), form.pattern), std::move(operands));
}

Node Generator::conversion(Type type, int depth) {
  // The same bits as another type; a vector of three has a fourth part that is undefined.
  if (type.width != 3 && random_.chance(30)) {
    std::vector<Type> same;
    for (int e = 0; e < kElements; ++e)
      for (int width : {1, 2, 4, 8, 16})
        if (Type other{static_cast<Element>(e), width};
            other.bytes() == type.bytes() && !(other == type))
          same.push_back(other);
    if (!same.empty()) {
      const Type from = random_.among(same);
      return expression(type, fmt::format("bits<{}>($)", type.name()), {expr(from, depth - 1)});
    }
  }
  const Type from = anyScalar().with(type.width);
  return expression(type, fmt::format("convert<{}>($)", type.name()), {expr(from, depth - 1)});
}

Node Generator::condition(int depth) {
  const Type type = random_.chance(50) ? kU32 : anyScalar();
  const char *op = random_.pick({"<", "<=", ">", ">=", "==", "!="});
  if (random_.chance(15))
    return expression({Element::U8, 1}, fmt::format("($ {} $) == ($ < $)", op),
                      {expr(type, depth - 1), expr(type, depth - 1), expr(kU32, depth - 1),
                       expr(kU32, depth - 1)});
  // A low bit splits a wave where a comparison of wide numbers would hardly.
  if (random_.chance(40)) {
    const int mask = random_.between(1, 7), bound = random_.below(4);
    return expression({Element::U8, 1}, fmt::format("($ & {}) {} {}", mask, op, bound),
                      {expr(kU32, depth - 1)});
  }
  return expression({Element::U8, 1}, fmt::format("$ {} $", op),
                    {expr(type, depth - 1), expr(type, depth - 1)});
}

Node Generator::selection(Type type, int depth) {
  if (type.width == 1) {
    if (!type.isFloat() && random_.chance(25)) {
      Node test = condition(depth);
      return expression(type, fmt::format("{}($)", type.name()), {std::move(test)});
    }
    Node test = condition(depth);
    return expression(type, "($ ? $ : $)",
                      {std::move(test), expr(type, depth - 1), expr(type, depth - 1)});
  }
  // The mask of a vector has elements of the size of what was compared.
  Type compared = type;
  do
    compared.element = static_cast<Element>(random_.below(kElements));
  while (compared.elementBytes() != type.elementBytes());
  const char *op = random_.pick({"<", "<=", ">", ">=", "==", "!="});
  return expression(type, fmt::format("(($ {} $) ? $ : $)", op),
                    {expr(compared, depth - 1), expr(compared, depth - 1), expr(type, depth - 1),
                     expr(type, depth - 1)});
}

Node Generator::memory(Type type, int depth) {
  const int align = alignment(type);
  const std::string load = fmt::format("load<{}, {}>", type.name(), align);
  const bool stateless = inFunction_ || uniform_;
  switch (random_.weighted({30, 20, stateless ? 0 : 15, stateless || arrays_.empty() ? 0 : 25,
                            slots_.empty() || inFunction_ ? 0 : 40})) {
  case 0:
    return expression(type, fmt::format("{}(c.in + inputAt<{}>($))", load, align),
                      {index(depth - 1)});
  case 1:
    return expression(type, fmt::format("{}(kTable.bytes + tableAt<{}>($))", load, align),
                      {index(depth - 1)});
  case 2:
    return expression(type, fmt::format("{}(c.own + ownAt<{}>($))", load, align),
                      {index(depth - 1)});
  case 3: {
    std::vector<const Array *> fitting;
    for (const Array &array : arrays_)
      if (array.type == type)
        fitting.push_back(&array);
    if (fitting.empty())
      return leaf(type);
    const Array &array = *random_.among(fitting);
    return expression(type, fmt::format("{}[$ & {}]", array.name, array.size - 1),
                      {index(depth - 1)});
  }
  default: {
    const Slot &slot = random_.among(slots_);
    if (!(slot.type == type))
      return leaf(type);
    return expression(type,
                      fmt::format("load<{}, {}>(c.lds + {} + $ % {} * {})", type.name(), slot.align,
                                  slot.offset, program_.workItems, slot.stride),
                      {index(depth - 1)});
  }
  }
}

Node Generator::reshape(Type type, int depth) {
  constexpr int kWidths[] = {2, 3, 4, 8, 16};
  if (type.width == 1) {
    const Type from = type.with(kWidths[random_.weighted({30, 25, 25, 12, 8})]);
    if (random_.chance(60)) {
      const int at = random_.below(from.width);
      return expression(type, fmt::format("element($, {})", at), {expr(from, depth - 1)});
    }
    return expression(type, "element($, $)", {expr(from, depth - 1), index(depth - 1)});
  }
  switch (random_.weighted({30, 25, 20, 25})) {
  case 0: {
    std::string lanes;
    for (int i = 0; i < type.width; ++i)
      lanes += fmt::format(", {}", random_.below(2 * type.width));
    return expression(type, fmt::format("__builtin_shufflevector($, ${})", lanes),
                      {expr(type, depth - 1), expr(type, depth - 1)});
  }
  case 1:
    return expression(type, fmt::format("{}($)", type.name()), {expr(type.scalar(), depth - 1)});
  case 2:
    // Never at an index that is uniform and unknown: LLVM 22 mixes up the conditions it becomes.
    if (uniform_ || random_.chance(30)) {
      const std::string pattern = fmt::format("withElement($, {}, $)", random_.below(type.width));
      return expression(type, pattern, {expr(type, depth - 1), expr(type.scalar(), depth - 1)});
    }
    return expression(type, "withElement($, $ + c.local, $)",
                      {expr(type, depth - 1), index(depth - 1), expr(type.scalar(), depth - 1)});
  default:
    return expression(type, fmt::format("resize<{}>($)", type.name()),
                      {expr(type.with(kWidths[random_.below(4)]), depth - 1)});
  }
}

Node Generator::reduction(Type type, int depth) {
  constexpr int kWidths[] = {2, 3, 4, 8, 16};
  const Type from = type.with(kWidths[random_.weighted({30, 20, 30, 12, 8})]);
  if (type.isFloat() || random_.chance(25)) {
    if (random_.chance(50))
      return expression(type, fmt::format("{}(sumElements($))", type.name()),
                        {expr(from, depth - 1)});
    return expression(type, fmt::format("{}(dot($, $))", type.name()),
                      {expr(from, depth - 1), expr(from, depth - 1)});
  }
  const char *kind = random_.pick({"add", "mul", "and", "or", "xor", "min", "max"});
  return expression(type, fmt::format("__builtin_reduce_{}($)", kind), {expr(from, depth - 1)});
}

std::optional<Node> Generator::builtin(Type type, int depth) {
  std::vector<const Builtin *> fitting;
  for (const Builtin &candidate : builtins())
    if (candidate.result == type)
      fitting.push_back(&candidate);
  if (fitting.empty())
    return std::nullopt;
  const Builtin &chosen = *random_.among(fitting);
  std::string text;
  std::vector<Node> operands;
  for (Type argument : chosen.arguments) {
    text += text.empty() ? "$" : ", $";
    operands.push_back(expr(argument, depth - 1));
  }
  return expression(type, fmt::format("amd::{}({})", chosen.name, text), std::move(operands));
}

std::optional<Node> Generator::call(Type type, int depth) {
  std::vector<const Callable *> fitting;
  for (const Callable &function : functions_)
    if (function.result == type)
      fitting.push_back(&function);
  if (fitting.empty())
    return std::nullopt;
  const Callable &function = *random_.among(fitting);
  std::string text = function.name + "(";
  std::vector<Node> operands;
  if (function.recursive) {
    text += "$ & 3, ";
    operands.push_back(index(depth - 1));
  }
  for (Type parameter : function.parameters) {
    text += "$, ";
    operands.push_back(expr(parameter, depth - 1));
  }
  return expression(type, text + "c)", std::move(operands));
}

} // namespace wavesmith::differential
