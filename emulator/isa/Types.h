#pragma once
// The value types of instruction rows. A row's function is written with them; its signature tells
// the drivers how wide each operand is and how its bits are read. Plain values, no state.

#include <cstdint>

namespace wavesmith::emulator {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr int kLanes = 64;

/// IEEE half precision by its bits.
struct Half {
  u16 bits;
};

/// Two halves, one bfloat16, two of these: as their bits, but an inline constant is one such number
/// in the low half (LLVM's operand types V2FP16, BF16, V2BF16).
struct Halves {
  u32 bits;
  constexpr operator u32() const { return bits; }
};
struct Brain {
  u16 bits;
  constexpr operator u32() const { return bits; }
};
struct Brains {
  u32 bits;
  constexpr operator u32() const { return bits; }
};

/// A scalar result that also sets SCC.
template <typename T> struct WithScc {
  T value;
  bool scc;
};
/// A lane result that also sets the lane's bit of a mask register.
template <typename T> struct Carry {
  T value;
  bool carry;
};

/// The destination's bits before the instruction.
template <typename T> struct Old {
  T value;
};
/// The lane's bit of the mask operand (VCC, or the third source of a VOP3).
struct CarryIn {
  bool bit;
};
struct LaneId {
  u32 index;
};
/// The parts of MODE that a lane function may ask for.
struct Mode {
  bool ieee;
  bool dx10Clamp;
  bool fp16Overflow; ///< overflow saturates instead of giving infinity or NaN
  bool ocp;          ///< FP8 is the OCP format (gfx950), else FNUZ
  bool directed16;   ///< float16 and float64 round in one direction, not to nearest
  bool flushes32;    ///< denormal float32 inputs count as zero
  bool directed32;   ///< float32 rounds in one direction, not to nearest
};

/// How the bits of an operand are read: decides width, modifiers and denormal handling.
enum class Type : u8 {
  None,
  B16,
  F16,
  Brain,
  B32,
  F32,
  Halves,
  Brains,
  B64,
  F64,
  B96,
  B128,
  B192,
  B256,
  B512,
  B1024
};

constexpr int wordsOf(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::B64:
  case Type::F64:
    return 2;
  case Type::B96:
    return 3;
  case Type::B128:
    return 4;
  case Type::B192:
    return 6;
  case Type::B256:
    return 8;
  case Type::B512:
    return 16;
  case Type::B1024:
    return 32;
  default:
    return 1;
  }
}

template <typename T> inline constexpr Type typeOf = Type::None;
template <> inline constexpr Type typeOf<u16> = Type::B16;
template <> inline constexpr Type typeOf<i16> = Type::B16;
template <> inline constexpr Type typeOf<Half> = Type::F16;
template <> inline constexpr Type typeOf<Brain> = Type::Brain;
template <> inline constexpr Type typeOf<Halves> = Type::Halves;
template <> inline constexpr Type typeOf<Brains> = Type::Brains;
template <> inline constexpr Type typeOf<u32> = Type::B32;
template <> inline constexpr Type typeOf<i32> = Type::B32;
template <> inline constexpr Type typeOf<float> = Type::F32;
template <> inline constexpr Type typeOf<u64> = Type::B64;
template <> inline constexpr Type typeOf<i64> = Type::B64;
template <> inline constexpr Type typeOf<double> = Type::F64;
template <typename T> inline constexpr Type typeOf<WithScc<T>> = typeOf<T>;
template <typename T> inline constexpr Type typeOf<Carry<T>> = typeOf<T>;

template <typename T> inline constexpr bool isCarry = false;
template <typename T> inline constexpr bool isCarry<Carry<T>> = true;
template <typename T> inline constexpr bool isScc = false;
template <typename T> inline constexpr bool isScc<WithScc<T>> = true;
template <typename T> inline constexpr bool isOld = false;
template <typename T> inline constexpr bool isOld<Old<T>> = true;

/// What a row's function says about its operands.
struct Signature {
  Type result = Type::None;
  Type sources[4] = {};
  u8 sourceCount = 0;
  bool setsScc = false;    ///< WithScc result, or a bool one (compares)
  bool setsCarry = false;  ///< Carry result
  bool isCompare = false;  ///< bool result
  bool readsOld = false;   ///< an Old parameter
  bool readsCarry = false; ///< a CarryIn parameter
  bool readsMode = false;
};

template <typename T> constexpr void addParameter(Signature &signature) {
  if constexpr (isOld<T>)
    signature.readsOld = true;
  else if constexpr (__is_same(T, CarryIn))
    signature.readsCarry = true;
  else if constexpr (__is_same(T, Mode))
    signature.readsMode = true;
  else if constexpr (!__is_same(T, LaneId))
    signature.sources[signature.sourceCount++] = typeOf<T>;
}

template <typename R, typename... A> constexpr Signature makeSignature() {
  Signature signature;
  if constexpr (__is_same(R, bool)) {
    signature.isCompare = true;
    signature.setsScc = true;
  } else {
    signature.result = typeOf<R>;
    signature.setsScc = isScc<R>;
    signature.setsCarry = isCarry<R>;
  }
  (addParameter<A>(signature), ...);
  return signature;
}

template <typename F, typename R, typename... A>
constexpr Signature signatureOfMember(R (F::*)(A...) const) {
  return makeSignature<R, A...>();
}
/// The signature of a captureless lambda.
template <typename F> constexpr Signature signatureOf(F) {
  return signatureOfMember(&F::operator());
}

} // namespace wavesmith::emulator
