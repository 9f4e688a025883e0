// FP8, BF8 and the sub-byte formats, to and from float. Included like Float.h.

/// Exact value of an 8-bit float; `ocp` picks the OCP formats, else the FNUZ ones.
template <bool kBf8> inline float fromFloat8(u32 byte, bool ocp) {
  u32 sign = (byte & 0x80) << 24, body = byte & 0x7f;
  // The exponent field lands 127-bias too small; the product is exact, denormals too.
  constexpr int kShift = kBf8 ? 21 : 20;
  u32 scale = static_cast<u32>(254 - (kBf8 ? 15 : 7) - (ocp ? 0 : 1)) << 23;
  float value = floatOf(sign | bitsOf(floatOf(body << kShift) * floatOf(scale)));
  if (ocp) {
    if constexpr (kBf8) {
      value = body >= 0x7c ? floatOf(sign | (body == 0x7c ? 0x7f800000 : 0x7fc00000)) : value;
    } else {
      value = body == 0x7f ? floatOf(sign | 0x7fc00000) : value;
    }
  } else {
    value = byte == 0x80 ? floatOf(0x7fc00000) : value;
  }
  return value;
}

/// What truncation leaves of the mantissa after `noise`, as a fraction of the last place that is
/// kept, was added. The guides' pseudocode takes as many of its top bits as are dropped; so does
/// this when the result is normal.
inline u32 keepNoisy(u32 mantissa, i32 drop, u32 noise) {
  return static_cast<u32>((((u64{mantissa} << 32) >> (drop < 63 ? drop : 63)) + noise) >> 32);
}

/// Rounds to nearest even, or stochastically, with the overflow rules of the target's format.
template <bool kBf8>
inline u32 toFloat8(float x, bool ocp, bool saturate, bool stochastic = false, u32 noise = 0) {
  constexpr int kMantissa = kBf8 ? 2 : 3;
  u32 bits = bitsOf(x), sign = (bits >> 24) & 0x80, body = bits & 0x7fffffff;
  int bias = (kBf8 ? 15 : 7) + (ocp ? 0 : 1);
  u32 largest = ocp ? (kBf8 ? 0x7b : 0x7e) : 0x7f;
  u32 nan = ocp ? (kBf8 ? 0x7f : 0x7f) | sign : 0x80;
  if (body > 0x7f800000)
    return nan;
  u32 infinite = ocp ? (kBf8 ? 0x7c | sign : 0x7f | sign) : 0x80;
  u32 maximum = largest | sign;
  if (body == 0x7f800000)
    return saturate && ocp ? maximum : infinite;
  i32 exponent = static_cast<i32>(body >> 23) - 127 + bias;
  u32 mantissa = (body & 0x7fffff) | (body >> 23 ? 0x800000 : 0);
  i32 drop = 23 - kMantissa + (exponent < 1 ? 1 - exponent : 0);
  u32 kept;
  if (stochastic) {
    kept = keepNoisy(mantissa, drop, noise);
  } else {
    drop = drop > 31 ? 31 : drop;
    u32 rest = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
    kept = mantissa >> drop;
    kept += rest > half || (rest == half && (kept & 1));
  }
  // The hidden bit adds itself to the exponent field, and so does a carry.
  u32 result = exponent < 1 ? kept : kept + (static_cast<u32>(exponent - 1) << kMantissa);
  if (result > largest)
    return saturate ? maximum : infinite;
  if (!ocp && result == 0)
    return 0;
  return result | sign;
}

inline float fromFp4(u32 nibble) {
  u32 body = nibble & 7;
  float value = floatOf(body << 22) * floatOf(0x7e800000);
  return nibble & 8 ? -value : value;
}
inline float fromFp6(u32 bits) { // E2M3
  float value = floatOf((bits & 31) << 20) * floatOf(0x7e800000);
  return bits & 32 ? -value : value;
}
inline float fromBf6(u32 bits) { // E3M2
  float value = floatOf((bits & 31) << 21) * floatOf(0x7d800000);
  return bits & 32 ? -value : value;
}
inline Half floatToHalfNoisy(float x, u32 noise, bool saturate) {
  u32 bits = bitsOf(x), sign = (bits >> 16) & 0x8000, body = bits & 0x7fffffff;
  if (body >= 0x7f800000)
    return floatToHalf(x);
  i32 exponent = static_cast<i32>(body >> 23) - 112;
  u32 mantissa = (body & 0x7fffff) | (body >> 23 ? 0x800000 : 0);
  u32 result = keepNoisy(mantissa, 13 + (exponent < 1 ? 1 - exponent : 0), noise);
  result += exponent < 1 ? 0 : static_cast<u32>(exponent - 1) << 10;
  result = result < 0x7c00 ? result : (saturate ? 0x7bff : 0x7c00);
  return {static_cast<u16>(sign | result)};
}
inline u32 floatToBf16Noisy(float x, u32 noise) {
  u32 bits = bitsOf(x);
  if ((bits & 0x7f800000) == 0x7f800000)
    return floatToBf16(x);
  return (bits + (noise >> 16)) >> 16;
}
/// Into 1 sign, kExponent and kMantissa bits; `keep(mantissa, drop)` rounds `drop` bits away.
/// Saturates, no NaN.
template <int kExponent, int kMantissa, typename Keep> inline u32 toTinyBy(float x, Keep keep) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr u32 kLargest = (1u << (kExponent + kMantissa)) - 1;
  u32 bits = bitsOf(x), sign = (bits >> 31) << (kExponent + kMantissa), body = bits & 0x7fffffff;
  if (body >= 0x7f800000)
    return kLargest | sign;
  i32 exponent = static_cast<i32>(body >> 23) - 127 + kBias;
  u32 mantissa = (body & 0x7fffff) | (body >> 23 ? 0x800000 : 0);
  i32 drop = 23 - kMantissa + (exponent < 1 ? 1 - exponent : 0);
  u32 kept = keep(mantissa, drop);
  u32 result = exponent < 1 ? kept : kept + (static_cast<u32>(exponent - 1) << kMantissa);
  return (result > kLargest ? kLargest : result) | sign;
}
/// Rounds to nearest even.
template <int kExponent, int kMantissa> inline u32 toTiny(float x) {
  return toTinyBy<kExponent, kMantissa>(x, [](u32 mantissa, i32 drop) {
    drop = drop > 31 ? 31 : drop;
    u32 kept = mantissa >> drop, rest = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
  });
}
/// Rounds stochastically.
template <int kExponent, int kMantissa> inline u32 toTinyNoisy(float x, u32 noise) {
  return toTinyBy<kExponent, kMantissa>(
      x, [noise](u32 mantissa, i32 drop) { return keepNoisy(mantissa, drop, noise); });
}
/// The power of two that a scale operand stands for: only its exponent byte counts, as E8M0.
inline float scaleFactor(float scale) {
  u32 exponent = bitsOf(scale) & 0x7f800000;
  // 2^-127 is a denormal; 255 stands for NaN.
  return floatOf(exponent == 0 ? 0x00400000 : (exponent == 0x7f800000 ? 0x7fc00000 : exponent));
}
/// A small float times a scale as a half. What is too large even for a float is no infinity.
inline Half scaledHalf(float value, float scale, bool saturate) {
  float product = value * scaleFactor(scale);
  bool overflow =
      (bitsOf(product) & 0x7fffffff) == 0x7f800000 && (bitsOf(value) & 0x7fffffff) < 0x7f800000;
  return floatToHalf(overflow ? floatOf(bitsOf(product) - 1) : product, saturate);
}
