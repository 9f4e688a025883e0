#pragma once
// A scalar model of an instruction: a function of typed values, and what the harness has to know of
// it to draw operands, to apply modifiers and to compare. Written from the ISA manuals, with
// nothing of the emulator's. Plain data.

#include <bit>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/emulator/rows/Bench.h"

namespace wavesmith::emulator::rows {

struct Half {
  u16 bits;
};
/// Every float16 is a double; rounding back is to nearest even.
double number(Half half);
Half half(double value);

enum class Type : u8 { None, B16, F16, B32, F32, B64, F64 };
constexpr int wordsOf(Type type) {
  return type == Type::None ? 0 : (type == Type::B64 || type == Type::F64 ? 2 : 1);
}
constexpr int bitsOf(Type type) {
  return type == Type::B16 || type == Type::F16 ? 16 : 32 * wordsOf(type);
}
constexpr bool isFloat(Type type) {
  return type == Type::F16 || type == Type::F32 || type == Type::F64;
}

template <typename T> constexpr Type typeOf() {
  if constexpr (std::is_same_v<T, Half>)
    return Type::F16;
  else if constexpr (std::is_same_v<T, float>)
    return Type::F32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::F64;
  else
    return sizeof(T) == 2 ? Type::B16 : (sizeof(T) == 4 ? Type::B32 : Type::B64);
}
template <typename T> T fromBits(u64 bits) {
  if constexpr (std::is_same_v<T, Half>)
    return {static_cast<u16>(bits)};
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<u32>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}
template <typename T> u64 toBits(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return value.bits;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<u32>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<u64>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

// Parameters that are not encoded sources, and results with a flag.
template <typename T> struct Before {
  T value; ///< the destination's
};
struct CarryIn {
  bool bit; ///< VCC's or SCC's
};
struct LaneIndex {
  u32 value;
};
struct Ieee {
  bool on;
};
template <typename T> struct Flagged {
  T value;
  bool flag; ///< carry, or SCC
};

struct Context {
  u64 source[3];
  u64 before;
  bool carry;
  u32 lane;
  bool ieee;
};
struct Result {
  u64 bits;
  bool flag;
};

struct Operation {
  Type sources[3] = {};
  int count = 0;
  Type result = Type::None; ///< None: a compare
  bool carryIn = false, flag = false, reads = false;
  std::function<Result(const Context &)> call;
  /// Results may be this many units in the last place apart, for what no manual gives bit by bit.
  double ulps = 0;
};

template <typename T> struct Parameter {
  static constexpr bool kSource = true;
  static void add(Operation &op) { op.sources[op.count++] = typeOf<T>(); }
  static T get(const Context &c, int source) { return fromBits<T>(c.source[source]); }
};
template <typename T> struct Parameter<Before<T>> {
  static constexpr bool kSource = false;
  static void add(Operation &op) { op.reads = true; }
  static Before<T> get(const Context &c, int) { return {fromBits<T>(c.before)}; }
};
template <> struct Parameter<CarryIn> {
  static constexpr bool kSource = false;
  static void add(Operation &op) { op.carryIn = true; }
  static CarryIn get(const Context &c, int) { return {c.carry}; }
};
template <> struct Parameter<LaneIndex> {
  static constexpr bool kSource = false;
  static void add(Operation &) {}
  static LaneIndex get(const Context &c, int) { return {c.lane}; }
};
template <> struct Parameter<Ieee> {
  static constexpr bool kSource = false;
  static void add(Operation &) {}
  static Ieee get(const Context &c, int) { return {c.ieee}; }
};

template <typename T> struct ResultOf {
  static void add(Operation &op) { op.result = typeOf<T>(); }
  static Result make(T value) { return {toBits(value), false}; }
};
template <> struct ResultOf<bool> {
  static void add(Operation &op) { op.flag = true; }
  static Result make(bool value) { return {0, value}; }
};
template <typename T> struct ResultOf<Flagged<T>> {
  static void add(Operation &op) {
    op.result = typeOf<T>();
    op.flag = true;
  }
  static Result make(Flagged<T> value) { return {toBits(value.value), value.flag}; }
};

/// Which encoded source each parameter is.
template <typename... A> constexpr std::array<int, sizeof...(A) + 1> sourceIndices() {
  constexpr bool kIsSource[] = {Parameter<A>::kSource..., false};
  std::array<int, sizeof...(A) + 1> indices{};
  for (std::size_t i = 0; i < sizeof...(A); ++i)
    indices[i + 1] = indices[i] + kIsSource[i];
  return indices;
}
template <typename F, typename R, typename... A, std::size_t... I>
Operation makeOperation(F function, R (F::*)(A...) const, std::index_sequence<I...>) {
  Operation op;
  (Parameter<A>::add(op), ...);
  ResultOf<R>::add(op);
  op.call = [function](const Context &c) {
    constexpr auto kIndices = sourceIndices<A...>();
    return ResultOf<R>::make(function(Parameter<A>::get(c, kIndices[I])...));
  };
  return op;
}
template <typename F, typename R, typename... A> constexpr auto parametersOf(R (F::*)(A...) const) {
  return std::index_sequence_for<A...>();
}
template <typename F> Operation operation(F function, double ulps = 0) {
  Operation op = makeOperation(function, &F::operator(), parametersOf(&F::operator()));
  op.ulps = ulps;
  return op;
}

/// Values where instructions change their mind; NaN, zeros, infinities and denormals of a float.
const std::vector<u64> &edges(Type type);
/// An edge or a random value. Floats are often of moderate size.
u64 draw(Type type, Random &random);
/// Equal bits, or both NaN, or close enough.
bool agrees(const Operation &op, u64 actual, u64 expected);
bool isNanBits(Type type, u64 bits);

} // namespace wavesmith::emulator::rows
