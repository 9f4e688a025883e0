// Integer and packing helpers of the row functions. Included like Float.h.

inline u32 reverseBits(u32 x) {
  x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  return __builtin_bswap32(x);
}
inline u64 pairOf(float low, float high) { return bitsOf(low) | u64{bitsOf(high)} << 32; }
inline float lowFloat(u64 x) { return floatOf(static_cast<u32>(x)); }
inline float highFloat(u64 x) { return floatOf(static_cast<u32>(x >> 32)); }
inline Half lowHalf(u32 x) { return {static_cast<u16>(x)}; }
inline Half highHalf(u32 x) { return {static_cast<u16>(x >> 16)}; }
inline u32 packHalves(Half low, Half high) { return low.bits | u32{high.bits} << 16; }
inline u32 clampByte(i32 x) { return static_cast<u32>(x < 0 ? 0 : (x > 255 ? 255 : x)); }
inline u32 clampSignedByte(i32 x) {
  return static_cast<u32>(x < -128 ? -128 : (x > 127 ? 127 : x));
}
inline i32 normSigned(float x) {
  float clamped = isNan(x) ? 0.0f : (x < -1.0f ? -1.0f : (x > 1.0f ? 1.0f : x));
  return static_cast<i32>(__builtin_rintf(clamped * 32767.0f));
}
inline i32 normUnsigned(float x) {
  float clamped = isNan(x) ? 0.0f : (x < 0.0f ? 0.0f : (x > 1.0f ? 1.0f : x));
  return static_cast<i32>(__builtin_rintf(clamped * 65535.0f));
}
inline i32 frexpExponent(double x) {
  u64 bits = bitsOf(x) & 0x7fffffffffffffff;
  if (bits == 0 || bits >= 0x7ff0000000000000)
    return 0;
  i32 exponent = static_cast<i32>(bits >> 52);
  return exponent ? exponent - 1022 : -1010 - (__builtin_clzll(bits) - 0);
}
inline double frexpMantissa(double x) {
  u64 bits = bitsOf(x);
  u64 body = bits & 0x7fffffffffffffff;
  if (body == 0 || body >= 0x7ff0000000000000)
    return x;
  if (body < 0x0010000000000000) {
    int shift = __builtin_clzll(body) - 11;
    body <<= shift;
  }
  return doubleOf((bits & 0x8000000000000000) | (body & 0x000fffffffffffff) | 0x3fe0000000000000);
}
inline float dot2Half(u32 a, u32 b, float c) {
  return c + (halfToFloat(lowHalf(a)) * halfToFloat(lowHalf(b)) +
              halfToFloat(highHalf(a)) * halfToFloat(highHalf(b)));
}
template <int kBits> inline u32 dotSigned(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 32; i += kBits) {
    i32 x = static_cast<i32>(a << (32 - kBits - i)) >> (32 - kBits);
    i32 y = static_cast<i32>(b << (32 - kBits - i)) >> (32 - kBits);
    c += static_cast<u32>(x) * static_cast<u32>(y);
  }
  return c;
}
template <int kBits> inline u32 dotUnsigned(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 32; i += kBits)
    c += ((a << (32 - kBits - i)) >> (32 - kBits)) * ((b << (32 - kBits - i)) >> (32 - kBits));
  return c;
}
inline u32 absoluteDifference(u32 a, u32 b) { return a > b ? a - b : b - a; }
inline u32 sadBytes(u32 a, u32 b) {
  u32 sum = 0;
  for (int i = 0; i < 32; i += 8)
    sum += absoluteDifference((a >> i) & 0xff, (b >> i) & 0xff);
  return sum;
}
/// As sadBytes, but bytes that are zero in the reference b do not count.
inline u32 maskedSadBytes(u32 a, u32 b) {
  u32 sum = 0;
  for (int i = 0; i < 32; i += 8)
    sum += (b >> i) & 0xff ? absoluteDifference((a >> i) & 0xff, (b >> i) & 0xff) : 0;
  return sum;
}
/// Four sums over the byte windows at 0, 8, 16 and 24 bits of a, each added to a half of c.
inline u64 quadSad(u64 a, u32 b, u64 c, bool masked) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i) {
    u32 window = static_cast<u32>(a >> (8 * i));
    u32 sum = masked ? maskedSadBytes(window, b) : sadBytes(window, b);
    result |= ((sum + (c >> (16 * i))) & 0xffff) << (16 * i);
  }
  return result;
}
/// What v_prng_b32 makes of a random number.
inline u32 nextRandom(u32 x) { return (x << 1) ^ (x >> 31 ? 197u : 0u); }

/// The fraction bits of 2/pi, the first in the top bit; 1201 of them, then zeros.
inline constexpr u64 kTwoOverPi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000, 0};
/// 53 bits of 2/pi from where `segment` and the size of x say, at their place, rounded toward zero.
/// (The guide's pseudocode masks the low bits; its text and its users mean the leading ones.)
inline double trigSegment(double x, u32 segment) {
  int exponent = static_cast<int>(bitsOf(x) >> 52) & 0x7ff;
  int shift = static_cast<int>(segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  int word = shift / 64, offset = shift % 64;
  if (word >= 19)
    return 0;
  u64 leading = kTwoOverPi[word] << offset;
  leading |= offset ? kTwoOverPi[word + 1] >> (64 - offset) : 0;
  u64 digits = leading >> 11;
  // Very large arguments scale up, so that nothing is lost to denormals.
  int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  if (digits == 0)
    return 0;
  int top = 63 - __builtin_clzll(digits);
  if (top + scale >= -1022)
    return doubleOf(((digits << (52 - top)) & 0x000fffffffffffff) |
                    static_cast<u64>(top + scale + 1023) << 52);
  int lost = -1074 - scale;
  return doubleOf(lost < 64 ? digits >> lost : 0);
}
// Cube maps: the face that a direction hits, and where.
inline bool cubeIsZ(float x, float y, float z) {
  return __builtin_fabsf(z) >= __builtin_fabsf(x) && __builtin_fabsf(z) >= __builtin_fabsf(y);
}
inline bool cubeIsY(float x, float y) { return __builtin_fabsf(y) >= __builtin_fabsf(x); }
inline float cubeFace(float x, float y, float z) {
  if (cubeIsZ(x, y, z))
    return z < 0 ? 5.0f : 4.0f;
  if (cubeIsY(x, y))
    return y < 0 ? 3.0f : 2.0f;
  return x < 0 ? 1.0f : 0.0f;
}
inline float cubeS(float x, float y, float z) {
  if (cubeIsZ(x, y, z))
    return z < 0 ? -x : x;
  if (cubeIsY(x, y))
    return x;
  return x < 0 ? z : -z;
}
inline float cubeT(float x, float y, float z) {
  if (!cubeIsZ(x, y, z) && cubeIsY(x, y))
    return y < 0 ? -z : z;
  return -y;
}
inline float cubeMajor(float x, float y, float z) {
  return cubeIsZ(x, y, z) ? z : (cubeIsY(x, y) ? y : x);
}
inline u32 lerpBytes(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (int i = 0; i < 32; i += 8)
    result |= ((((a >> i) & 0xff) + ((b >> i) & 0xff) + ((c >> i) & 1)) >> 1) << i;
  return result;
}
inline u32 permuteBytes(u32 a, u32 b, u32 selector) {
  u64 pool = u64{a} << 32 | b;
  u32 result = 0;
  for (int i = 0; i < 32; i += 8) {
    u32 s = (selector >> i) & 0xff;
    u32 byte = static_cast<u32>(pool >> (8 * (s & 7))) & 0xff;
    u32 sign = (pool >> (16 * (s & 3) + 15)) & 1 ? 0xffu : 0u;
    byte = s >= 8 ? (s >= 12 ? (s == 12 ? 0u : 0xffu) : sign) : byte;
    result |= byte << i;
  }
  return result;
}
inline u32 bitop3(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i) {
    u32 term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    result |= (table >> i) & 1 ? term : 0u;
  }
  return result;
}
/// IEEE 754-2019 minimum and maximum: NaN wins, -0 is below +0.
inline float minimum(float a, float b) {
  if (isNan(a) || isNan(b))
    return quiet(isNan(a) ? a : b);
  return minNumber(a, b, false);
}
inline float maximum(float a, float b) {
  if (isNan(a) || isNan(b))
    return quiet(isNan(a) ? a : b);
  return maxNumber(a, b, false);
}

// The division helpers: v_div_scale brings a quotient's operands into range, v_div_fmas undoes it,
// v_div_fixup puts the special cases right.
template <typename T> struct DivTraits;
template <> struct DivTraits<float> {
  static constexpr int kBias = 127, kMantissa = 23, kExponents = 255, kTiny = 23, kSpread = 96;
  static float power(int e) { return floatOf(static_cast<u32>(e + 127) << 23); }
  static constexpr int kScale = 64;
};
template <> struct DivTraits<double> {
  static constexpr int kBias = 1023, kMantissa = 52, kExponents = 2047, kTiny = 53, kSpread = 768;
  static double power(int e) { return doubleOf(static_cast<u64>(e + 1023) << 52); }
  static constexpr int kScale = 128;
};
template <typename T> inline int exponentField(T x) {
  return static_cast<int>(bitsOf(x) >> DivTraits<T>::kMantissa) & DivTraits<T>::kExponents;
}
template <typename T> inline Carry<T> divScale(T s0, T s1, T s2) {
  using D = DivTraits<T>;
  T up = D::power(D::kScale), down = D::power(-D::kScale);
  int e1 = exponentField(s1), e2 = exponentField(s2);
  bool denormal1 = e1 == 0 && s1 != 0;
  T reciprocal = T(1) / s1, quotient = s2 / s1;
  bool tinyReciprocal = exponentField(reciprocal) == 0 && reciprocal != 0;
  bool tinyQuotient = exponentField(quotient) == 0 && quotient != 0;
  if (s2 == 0 || s1 == 0 || isNan(s1) || isNan(s2))
    return {s2 == 0 || s1 == 0 ? cast<T>(static_cast<decltype(bitsOf(s0))>(
                                     sizeof(T) == 4 ? u64{0x7fc00000} : 0x7ff8000000000000ull))
                               : s0,
            false};
  if (e2 - e1 >= D::kSpread)
    return {bitsOf(s0) == bitsOf(s1) ? s0 * up : s0, true};
  if (denormal1)
    return {s0 * up, false};
  // Down, or a denominator of this size is infinite: the manual's 64 is no power that divides
  // right.
  if (tinyReciprocal && tinyQuotient)
    return {bitsOf(s0) == bitsOf(s1) ? s0 * down : s0, true};
  if (tinyReciprocal)
    return {s0 * down, false};
  if (tinyQuotient)
    return {bitsOf(s0) == bitsOf(s2) ? s0 * up : s0, true};
  if (e2 <= D::kTiny)
    return {s0 * up, false};
  return {s0, false};
}
template <typename T> inline T divFmas(T a, T b, T c, bool scaled, bool directed) {
  T sum = sizeof(T) == 4 ? T(__builtin_fmaf(float(a), float(b), float(c)))
                         : T(__builtin_fma(double(a), double(b), double(c)));
  if (!scaled)
    return sum;
  // Which way v_div_scale went shows in the size of the addend.
  using D = DivTraits<T>;
  const bool up = exponentField(c) > D::kBias;
  const T result = sum * D::power(up ? D::kScale : -D::kScale);
  // A quotient is rounded once: where the sum lies between two denormal numbers, what it lost
  // decides. In one direction, twice is once.
  const T least = cast<T>(static_cast<decltype(bitsOf(c))>(1));
  const T off = sum - result * D::power(D::kScale), half = least * D::power(D::kScale) / 2;
  const T product = a * b, total = product + c, seen = total - product;
  const T below = sizeof(T) == 4 ? T(__builtin_fmaf(float(a), float(b), float(-product)))
                                 : T(__builtin_fma(double(a), double(b), double(-product)));
  const T lost = (total - sum) + ((product - (total - seen)) + (c - seen) + below);
  const bool moves =
      !directed && !up && (off == half || off == -half) && lost != 0 && (lost > 0) == (off > 0);
  return moves ? result + (off > 0 ? least : -least) : result;
}
/// float16 has no scaling, so no quotient out of range.
template <bool kScales = true, typename T>
inline T divFixup(T quotient, T denominator, T numerator) {
  constexpr bool isFloat = sizeof(T) == 4;
  using Bits = decltype(bitsOf(quotient));
  constexpr Bits kSign = Bits{1} << (sizeof(T) * 8 - 1);
  constexpr Bits kInfinity = static_cast<Bits>(isFloat ? u64{0x7f800000} : 0x7ff0000000000000ull);
  Bits sign = (bitsOf(denominator) ^ bitsOf(numerator)) & kSign;
  Bits bodyD = bitsOf(denominator) & ~kSign, bodyN = bitsOf(numerator) & ~kSign;
  if (isNan(numerator))
    return quiet(numerator);
  if (isNan(denominator))
    return quiet(denominator);
  if ((bodyD == 0 && bodyN == 0) || (bodyD == kInfinity && bodyN == kInfinity))
    return cast<T>(static_cast<Bits>(isFloat ? u64{0xffc00000} : 0xfff8000000000000ull));
  if (bodyD == 0 || bodyN == kInfinity)
    return cast<T>(static_cast<Bits>(sign | kInfinity));
  if (bodyD == kInfinity || bodyN == 0)
    return cast<T>(sign);
  // Quotients out of range come here as garbage. The manual names the denominator's exponent for
  // the large ones, which cannot be 255 (2047) any more; the quotient's makes division right.
  if (kScales && exponentField(numerator) - exponentField(denominator) < (isFloat ? -150 : -1075))
    return cast<T>(sign);
  if (kScales && exponentField(quotient) == DivTraits<T>::kExponents)
    return cast<T>(static_cast<Bits>(sign | kInfinity));
  return cast<T>(static_cast<Bits>(sign | (bitsOf(quotient) & ~kSign)));
}
