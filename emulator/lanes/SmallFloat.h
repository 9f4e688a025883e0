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

/// Rounds to nearest even (or adds `noise` below the last place first and truncates), with the
/// overflow rules of the target's format.
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
  if (drop > 31)
    drop = 31;
  u32 kept = mantissa >> drop;
  if (stochastic) {
    u64 sum = (u64{mantissa} << 8) + (u64{noise} << drop >> 24);
    kept = static_cast<u32>(sum >> (8 + drop));
  } else {
    u32 rest = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
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
/// Adds noise below the last place that a truncation by `dropped` bits keeps.
inline float addNoise(float x, u32 noise, int dropped) {
  u32 bits = bitsOf(x);
  if ((bits & 0x7f800000) == 0x7f800000)
    return x;
  return floatOf(bits + (noise & ((1u << dropped) - 1)));
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
  u32 kept = keep(mantissa, drop > 31 ? 31 : drop);
  u32 result = exponent < 1 ? kept : kept + (static_cast<u32>(exponent - 1) << kMantissa);
  return (result > kLargest ? kLargest : result) | sign;
}
/// Rounds to nearest even.
template <int kExponent, int kMantissa> inline u32 toTiny(float x) {
  return toTinyBy<kExponent, kMantissa>(x, [](u32 mantissa, i32 drop) {
    u32 kept = mantissa >> drop, rest = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
  });
}
/// Adds noise below the last place, then truncates.
template <int kExponent, int kMantissa> inline u32 toTinyNoisy(float x, u32 noise) {
  return toTinyBy<kExponent, kMantissa>(x, [noise](u32 mantissa, i32 drop) {
    return static_cast<u32>((u64{mantissa} + (u64{noise} >> (32 - drop))) >> drop);
  });
}
/// The power of two that a scale operand stands for: only its exponent byte counts.
inline float scaleFactor(float scale) {
  u32 exponent = bitsOf(scale) & 0x7f800000;
  return floatOf(exponent ? exponent : 0x00400000); // 2^-127 is a denormal
}
