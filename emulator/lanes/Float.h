// Float helpers for row functions: conversions, IEEE min/max, approximations. Included by every
// copy of the lane sources inside its own namespace, hence no include guard and no namespace here.
// Branch-free where it matters, so that loops over lanes vectorise.

template <typename To, typename From> inline To cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
inline u32 bitsOf(float x) { return cast<u32>(x); }
inline u64 bitsOf(double x) { return cast<u64>(x); }
inline float floatOf(u32 bits) { return cast<float>(bits); }
inline double doubleOf(u64 bits) { return cast<double>(bits); }

inline bool isNan(float x) { return (bitsOf(x) & 0x7fffffff) > 0x7f800000; }
inline bool isNan(double x) { return (bitsOf(x) & 0x7fffffffffffffff) > 0x7ff0000000000000; }
inline float quiet(float x) { return floatOf(bitsOf(x) | 0x00400000); }
inline double quiet(double x) { return doubleOf(bitsOf(x) | 0x0008000000000000); }
inline bool isSignalling(float x) { return isNan(x) && !(bitsOf(x) & 0x00400000); }
inline bool isSignalling(double x) { return isNan(x) && !(bitsOf(x) & 0x0008000000000000); }

inline float halfToFloat(Half half) {
  u32 sign = u32{half.bits & 0x8000u} << 16, body = half.bits & 0x7fffu;
  // Shifted into place the exponent is 112 too small; the product is exact, denormals too.
  float normal = floatOf(body << 13) * floatOf(0x77800000);
  u32 special = 0x7f800000 | (body << 13);
  return floatOf(sign | (body >= 0x7c00 ? special : bitsOf(normal)));
}

/// Rounds as the host's environment does: to nearest even, unless a driver has set MODE's rounding.
/// So does overflow, which gives the largest number when `saturate`.
inline Half floatToHalf(float x, bool saturate = false) {
  u32 bits = bitsOf(x), sign = (bits >> 16) & 0x8000, body = bits & 0x7fffffff;
  // Next to a number 2^13 times larger, and of the same sign (toward zero must stay that), eleven
  // bits remain, and below 2^-14 the multiples of 2^-24.
  u32 exponent = body & 0x7f800000;
  exponent = exponent < 0x38800000 ? 0x38800000 : (exponent > 0x47800000 ? 0x47800000 : exponent);
  float large = floatOf((exponent + (13u << 23)) | 0x00400000 | (bits & 0x80000000));
  u32 rounded = bitsOf((x + large) - large) & 0x7fffffff;
  // Adding 0.5 puts the half's last place at the float's last place. Above, what is too large for
  // a half is too large for a float 2^112 times as large.
  u32 small = bitsOf(floatOf(rounded) + 0.5f) - 0x3f000000;
  u32 scaled = bitsOf(floatOf(rounded | (bits & 0x80000000)) * floatOf(0x77800000)) & 0x7fffffff;
  u32 result = rounded < 0x38800000 ? small : (scaled - 0x70000000) >> 13;
  result = saturate && body < 0x7f800000 && result == 0x7c00 ? 0x7bff : result;
  result = body > 0x7f800000 ? 0x7e00 | ((body >> 13) & 0x1ff) : result;
  return {static_cast<u16>(sign | result)};
}
inline Half floatToHalfTowardZero(float x) {
  u32 bits = bitsOf(x), sign = (bits >> 16) & 0x8000, body = bits & 0x7fffffff;
  u32 shift = 126 - (body >> 23); // 31 shifts the whole mantissa out
  u32 small = ((body & 0x7fffff) | 0x800000) >> (shift < 31 ? shift : 31);
  u32 result = body < 0x38800000 ? small : (body - 0x38000000) >> 13;
  result = body >= 0x47800000 ? (body >= 0x7f800000 ? 0x7c00 : 0x7bff) : result;
  result = body > 0x7f800000 ? 0x7e00 | ((body >> 13) & 0x1ff) : result;
  return {static_cast<u16>(sign | result)};
}
inline Half doubleToHalf(double x, bool saturate = false) {
  // Through float with the sticky bit kept (round to odd), so the second rounding is right.
  float f = static_cast<float>(x);
  double back = f;
  u32 bits = bitsOf(f);
  bool finite = (bitsOf(x) & 0x7fffffffffffffff) < 0x7ff0000000000000;
  if (back != x && !(bits & 1) && !isNan(f))
    bits = (__builtin_fabs(back) < __builtin_fabs(x)) ? bits | 1 : bits - 1;
  return floatToHalf(floatOf(bits), saturate && finite);
}
/// a * b + c as a half with a single rounding: to nearest, the double sum is rounded to odd first;
/// rounding twice in one direction is rounding once.
inline Half fmaToHalf(float a, float b, float c, Mode mode) {
  double product = double{a} * double{b}, addend = c;
  double sum = product + addend;
  double shadow = sum - product;
  double rest = (product - (sum - shadow)) + (addend - shadow);
  u64 bits = bitsOf(sum);
  if (!mode.directed16 && rest != 0 && !(bits & 1) && !isNan(rest))
    bits = (rest > 0) == (sum > 0) ? bits | 1 : bits - 1;
  return doubleToHalf(doubleOf(bits), mode.fp16Overflow);
}
inline Half fmaHalf(Half a, Half b, Half c, Mode mode) {
  return fmaToHalf(halfToFloat(a), halfToFloat(b), halfToFloat(c), mode);
}

inline float bf16ToFloat(u32 bits) { return floatOf(bits << 16); }
inline u32 floatToBf16(float x) {
  u32 bits = bitsOf(x);
  u32 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return isNan(x) ? (bits >> 16) | 0x40 : rounded;
}

// IEEE 754-2008 maxNum/minNum as the ISA defines them: signalling NaN is quieted and returned in
// IEEE mode, a single NaN loses, +0 is above -0.
template <typename T> inline T maxNumber(T a, T b, bool ieee) {
  T greater = a > b ? a : b;
  T zeros = (a == 0 && b == 0) ? (bitsOf(a) == 0 ? a : b) : greater;
  T result = isNan(b) ? a : (isNan(a) ? b : zeros);
  if (ieee)
    result = isSignalling(a) ? quiet(a) : (isSignalling(b) ? quiet(b) : result);
  return result;
}
template <typename T> inline T minNumber(T a, T b, bool ieee) {
  T less = a < b ? a : b;
  T zeros = (a == 0 && b == 0) ? (bitsOf(a) != 0 ? a : b) : less;
  T result = isNan(b) ? a : (isNan(a) ? b : zeros);
  if (ieee)
    result = isSignalling(a) ? quiet(a) : (isSignalling(b) ? quiet(b) : result);
  return result;
}
template <typename T> inline T median(T a, T b, T c, bool ieee) {
  if (isNan(a) || isNan(b) || isNan(c))
    return minNumber(minNumber(a, b, ieee), c, ieee);
  T top = maxNumber(maxNumber(a, b, ieee), c, ieee);
  if (top == a)
    return maxNumber(b, c, ieee);
  return top == b ? maxNumber(a, c, ieee) : maxNumber(a, b, ieee);
}
template <typename T> inline T medianInteger(T a, T b, T c) {
  T low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : (c > high ? high : c);
}
inline Half maxHalf(Half a, Half b, bool ieee) {
  return floatToHalf(maxNumber(halfToFloat(a), halfToFloat(b), ieee));
}
inline Half minHalf(Half a, Half b, bool ieee) {
  return floatToHalf(minNumber(halfToFloat(a), halfToFloat(b), ieee));
}

/// Adding and subtracting 1.5*2^52 rounds to the nearest even integer for |x| < 2^51.
inline float flushed(float x) {
  return (bitsOf(x) & 0x7f800000) == 0 ? floatOf(bitsOf(x) & 0x80000000) : x;
}

/// 2^x: split at the nearest integer, degree-7 series in double; within 1 ulp of the true value.
inline float exp2Approx(float x) {
  float clamped = x < -150.0f ? -150.0f : (x > 129.0f ? 129.0f : x);
  clamped = isNan(x) ? 0.0f : clamped;
  float whole = clamped + 12582912.0f;
  i32 exponent = cast<i32>(bitsOf(whole)) - 0x4b400000;
  double f = double{clamped} - double{whole - 12582912.0f};
  double p = 1.5252733804059841e-05;
  p = p * f + 1.5403530393381608e-04;
  p = p * f + 1.3333558146428443e-03;
  p = p * f + 9.6181291076284772e-03;
  p = p * f + 5.5504108664821580e-02;
  p = p * f + 2.4022650695910071e-01;
  p = p * f + 6.9314718055994531e-01;
  p = p * f + 1.0;
  double scaled = p * doubleOf(static_cast<u64>(i64{exponent} + 1023) << 52);
  float result = static_cast<float>(scaled);
  // The hardware flushes denormal results whatever MODE says.
  result = scaled < 1.1754943508222875e-38 ? 0.0f : result;
  return isNan(x) ? quiet(x) : result;
}

/// log2(x) through the atanh series in double; within 1 ulp of the true value.
inline float log2Approx(float x) {
  float value = flushed(x);
  u32 bits = bitsOf(value);
  i32 exponent = static_cast<i32>(bits - 0x3f3504f3) >> 23;
  double m = floatOf(bits - (static_cast<u32>(exponent) << 23));
  double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  float result = static_cast<float>(static_cast<double>(exponent) + 2.8853900817779268 * s * p);
  result = value == 0 ? floatOf(0xff800000) : result;
  result = bits == 0x7f800000 ? value : result;
  result = value < 0 ? floatOf(0xffc00000) : result;
  return isNan(x) ? quiet(x) : result;
}

inline float rcpApprox(float x) { return flushed(1.0f / flushed(x)); }
inline float sqrtApprox(float x) { return __builtin_sqrtf(flushed(x)); }
inline float rsqApprox(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(double{flushed(x)}));
}
/// sin and cos of revolutions; |x| > 256 gives 0 and 1 like the hardware's range rule.
inline float sinTurns(float x) {
  double turns = double{x} - __builtin_floor(double{x});
  float result = static_cast<float>(__builtin_sin(turns * 6.283185307179586));
  return __builtin_fabsf(x) > 256.0f ? 0.0f : result;
}
inline float cosTurns(float x) {
  double turns = double{x} - __builtin_floor(double{x});
  float result = static_cast<float>(__builtin_cos(turns * 6.283185307179586));
  return __builtin_fabsf(x) > 256.0f ? 1.0f : result;
}

/// Truncating conversions that saturate and send NaN to zero.
inline u32 toUnsigned(double x) {
  return isNan(x) || x <= 0 ? 0u : (x >= 4294967295.0 ? 0xffffffffu : static_cast<u32>(x));
}
inline i32 toSigned(double x) {
  if (isNan(x))
    return 0;
  return x <= -2147483648.0 ? INT32_MIN : (x >= 2147483647.0 ? INT32_MAX : static_cast<i32>(x));
}

inline float ldexpFloat(float x, i32 exponent) {
  i32 e = exponent < -300 ? -300 : (exponent > 300 ? 300 : exponent);
  // The double product is exact, so there is one rounding.
  return static_cast<float>(double{x} * doubleOf(static_cast<u64>(i64{e} + 1023) << 52));
}
inline double ldexpDouble(double x, i32 exponent) {
  return __builtin_ldexp(x, exponent < -5000 ? -5000 : (exponent > 5000 ? 5000 : exponent));
}
inline float fractFloat(float x) {
  float fraction = x - __builtin_floorf(x);
  return fraction >= 1.0f ? floatOf(0x3f7fffff) : fraction;
}
inline double fractDouble(double x) {
  double fraction = x - __builtin_floor(x);
  return fraction >= 1.0 ? doubleOf(0x3fefffffffffffff) : fraction;
}

template <typename T> inline u32 classify(T x) {
  constexpr bool isFloat = sizeof(T) == 4;
  auto bits = bitsOf(x);
  bool negative = bits >> (sizeof(T) * 8 - 1);
  auto body = bits & ~(decltype(bits){1} << (sizeof(T) * 8 - 1));
  constexpr auto infinity =
      static_cast<decltype(bits)>(isFloat ? u64{0x7f800000} : 0x7ff0000000000000ull);
  constexpr auto smallest =
      static_cast<decltype(bits)>(isFloat ? u64{0x00800000} : 0x0010000000000000ull);
  if (body > infinity)
    return isSignalling(x) ? 1 : 2;
  if (body == infinity)
    return negative ? 1u << 2 : 1u << 9;
  if (body >= smallest)
    return negative ? 1u << 3 : 1u << 8;
  if (body != 0)
    return negative ? 1u << 4 : 1u << 7;
  return negative ? 1u << 5 : 1u << 6;
}
inline u32 classifyHalf(Half h) {
  bool negative = h.bits & 0x8000;
  u32 body = h.bits & 0x7fff;
  if (body > 0x7c00)
    return body & 0x200 ? 2 : 1;
  if (body == 0x7c00)
    return negative ? 1u << 2 : 1u << 9;
  if (body >= 0x400)
    return negative ? 1u << 3 : 1u << 8;
  if (body != 0)
    return negative ? 1u << 4 : 1u << 7;
  return negative ? 1u << 5 : 1u << 6;
}
