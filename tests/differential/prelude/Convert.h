#pragma once
// gfx950's scaled conversions and transposing LDS reads by clang's builtins: the instruction on the
// device, the ISA's words about it on the host (CDNA4 ISA 7.6 and 9.3). Scales are powers of two
// and values small enough that nothing overflows; rounding to nearest is part of it, noise is not:
// with stochastic rounding values are exact.

#include "tests/differential/prelude/Matrix.h"

namespace scaled {

using matrix::Args;
using matrix::Number;

INLINE inline u32 word(const Args &x, u32 i) { return i < 4 ? x.a[i] : x.b[i - 4]; }
/// 2^-7 to 2^Top.
template <i32 Top> INLINE inline f32 scaleOf(const Args &x) {
  return __builtin_bit_cast(f32, u32(120 + i32(x.extra % u32(Top + 8))) << 23);
}
/// The largest scale's exponent that keeps numbers of From in an E.
template <Number From, class E> inline constexpr i32 kTop = 6;
template <> inline constexpr i32 kTop<Number::Bf8, f16> = 0;

/// Four numbers of eight bits without NaN and infinity; smaller ones are all finite.
template <Number Type> INLINE inline u32 finiteCodes(u32 codes) {
  for (u32 i = 0; i < 32; i += 8) {
    const u32 code = codes >> i & 0x7f;
    if (Type == Number::Fp8 && code == 0x7f)
      codes ^= 1u << i;
    if (Type == Number::Bf8 && code >= 0x7c)
      codes ^= 0x40u << i;
  }
  return codes;
}
/// The element `i` to be made small, already times the scale: at most 4, and with `Exact` a number
/// that every format has.
template <bool Exact> INLINE inline f32 wide(const Args &x, u32 i, f32 scale) {
  const u32 bits = matrix::choices(x.a, i);
  i32 count = i32(bits & 0xff) - 128; // of 32nds
  if constexpr (Exact) {
    const u32 code = bits & 7; // 0, 0.5, 1, 1.5, 2, 3, 4, 6
    count = i32(code < 4 ? 16 * code : (code & 1 ? 96 : 64) << (code > 5));
    count = bits & 8 ? -count : count;
  }
  return f32(count) / 32 * scale;
}

INLINE inline u32 bitsOf(u32 x) { return x; }
INLINE inline u32 bitsOf(f32 x) { return __builtin_bit_cast(u32, x); }
INLINE inline u32 bitsOf(f16 x) { return __builtin_bit_cast(u16, x); }
INLINE inline u32 bitsOf(bf16 x) { return __builtin_bit_cast(u16, x); }
struct Hash {
  u32 value = 0;
  INLINE void add(u32 x) { value = value * 0x9e3779b1 + x; }
};
/// Of any kind of vector; builtins return another than `Vec`.
template <u32 Count, class V> INLINE inline u32 hashOf(V v) {
  Hash hash;
  for (u32 i = 0; i < Count; ++i)
    hash.add(bitsOf(v[i]));
  return hash.value;
}

#ifdef __AMDGCN__

template <class V, bool Exact> INLINE inline V values(const Args &x, f32 scale, u32 first = 0) {
  V v = {};
  for (u32 i = 0; i < kWidth<V>; ++i)
    v = withElement(v, i, ElementOf<V>(wide<Exact>(x, first + i, scale)));
  return v;
}
INLINE inline Vec<u32, 6> sixWords(const Args &x) {
  return {x.a[0], x.a[1], x.a[2], x.a[3], x.b[0], x.b[1]};
}

#else

struct Layout {
  u32 bits, mantissa, bias;
};
inline Layout layoutOf(Number type) {
  switch (type) {
  case Number::Fp8:
    return {8, 3, 7};
  case Number::Bf8:
    return {8, 2, 15};
  case Number::Fp6:
    return {6, 3, 1};
  case Number::Bf6:
    return {6, 2, 3};
  default:
    return {4, 1, 1};
  }
}
inline f64 valueOf(Number type, u32 code) {
  const Layout layout = layoutOf(type);
  const u32 sign = code >> (layout.bits - 1) & 1,
            magnitude = code & ((1u << (layout.bits - 1)) - 1),
            exponent = magnitude >> layout.mantissa;
  f64 x = magnitude & ((1u << layout.mantissa) - 1);
  if (exponent)
    x += 1u << layout.mantissa;
  x = __builtin_ldexp(x, i32(exponent ? exponent : 1) - i32(layout.bias + layout.mantissa));
  return sign ? -x : x;
}
/// The nearest number, the even one of two.
inline u32 codeOf(Number type, f64 x) {
  const u32 half = 1u << (layoutOf(type).bits - 1), sign = __builtin_signbit(x) ? half : 0;
  const u32 count = type == Number::Fp8 ? 0x7f : type == Number::Bf8 ? 0x7c : half;
  u32 best = 0;
  f64 least = 1e30;
  for (u32 code = 0; code < count; ++code) {
    const f64 distance = __builtin_fabs(valueOf(type, code) - __builtin_fabs(x));
    if (distance < least || (distance == least && code % 2 == 0))
      best = code, least = distance;
  }
  return best | sign;
}
inline u32 fieldAt(const Args &x, u32 bit, u32 bits) {
  const u64 both = word(x, bit / 32) | u64(word(x, (bit / 32 + 1) % 8)) << 32;
  return u32(both >> bit % 32) & ((1u << bits) - 1);
}
/// Elements of `bits` in words, lowest first.
struct Packed {
  u32 words[6] = {}, bits, count = 0;
  explicit Packed(u32 width) : bits(width) {}
  void add(u32 code) {
    const u32 bit = bits * count++;
    words[bit / 32] |= code << bit % 32;
    if (bit % 32 + bits > 32)
      words[bit / 32 + 1] |= code >> (32 - bit % 32);
  }
  u32 hash() const {
    Hash hash;
    for (u32 i = 0; i < bits * count / 32; ++i)
      hash.add(words[i]);
    return hash.value;
  }
};

#endif

struct Row {
  using Args = matrix::Args;
  using Result = u32;
};
#ifdef __AMDGCN__
#define DEVICE(...)                                                                                \
  INLINE static u32 device(Args x) { __VA_ARGS__ }
#define HOST(...)
#else
#define DEVICE(...)
#define HOST(...)                                                                                  \
  static u32 one(const Args &x) { __VA_ARGS__ }                                                    \
  static void host(const Args *args, u64, u32 *results) {                                          \
    for (u32 lane = 0; lane < 64; ++lane)                                                          \
      results[lane] = one(args[lane]);                                                             \
  }
#endif

#if !defined(__AMDGCN__) || defined(__gfx950__)

/// One number of eight bits: into float32, or into a half of a register whose other half stays.
#define FROM_ONE(FROM, from)                                                                       \
  template <u32 At> struct f32_##from : Row {                                                      \
    DEVICE(return bitsOf(__builtin_amdgcn_cvt_scalef32_f32_##from(                                 \
        i32(finiteCodes<Number::FROM>(x.a[0])), scaleOf<6>(x), At));)                              \
    HOST(const u32 codes = finiteCodes<Number::FROM>(x.a[0]);                                      \
         return bitsOf(f32(valueOf(Number::FROM, codes >> 8 * At & 0xff) * scaleOf<6>(x)));)       \
  };                                                                                               \
  template <u32 At> struct f16_##from : Row {                                                      \
    static constexpr i32 kLargest = kTop<Number::FROM, f16>;                                       \
    DEVICE(return hashOf<2>(__builtin_amdgcn_cvt_scalef32_f16_##from(                              \
        f16x2{1, -2}, i32(finiteCodes<Number::FROM>(x.a[0])), scaleOf<kLargest>(x), At, At % 2));) \
    HOST(const u32 codes = finiteCodes<Number::FROM>(x.a[0]); f16x2 r = {1, -2};                   \
         r[At % 2] = f16(valueOf(Number::FROM, codes >> 8 * At & 0xff) * scaleOf<kLargest>(x));    \
         return hashOf<2>(r);)                                                                     \
  };
FROM_ONE(Fp8, fp8)
FROM_ONE(Bf8, bf8)

/// Two numbers: of a half of the word, or of a byte.
#define FROM_TWO(E, FROM, from)                                                                    \
  template <u32 At> struct pk_##E##_##from : Row {                                                 \
    static constexpr i32 kLargest = kTop<Number::FROM, E>;                                         \
    DEVICE(return hashOf<2>(__builtin_amdgcn_cvt_scalef32_pk_##E##_##from(                         \
        finiteCodes<Number::FROM>(x.a[0]), scaleOf<kLargest>(x), At));)                            \
    HOST(constexpr u32 kBits = matrix::bitsOf(Number::FROM);                                       \
         const u32 codes = finiteCodes<Number::FROM>(x.a[0]) >> 2 * kBits * At; Vec<E, 2> r;       \
         for (u32 i = 0; i < 2; ++i)                                                               \
             r[i] = E(valueOf(Number::FROM, codes >> kBits * i & ((1u << kBits) - 1)) *            \
                      scaleOf<kLargest>(x));                                                       \
         return hashOf<2>(r);)                                                                     \
  };
/// 32 numbers of six bits.
#define FROM_SIX(E, FROM, from)                                                                    \
  struct pk32_##E##_##from : Row {                                                                 \
    DEVICE(return hashOf<32>(__builtin_amdgcn_cvt_scalef32_pk32_##E##_##from(sixWords(x),          \
                                                                             scaleOf<6>(x)));)     \
    HOST(Hash hash;                                                                                \
         for (u32 i = 0; i < 32; ++i)                                                              \
             hash.add(bitsOf(E(valueOf(Number::FROM, fieldAt(x, 6 * i, 6)) * scaleOf<6>(x))));     \
         return hash.value;)                                                                       \
  };
#define FROM_EACH(E)                                                                               \
  FROM_TWO(E, Fp8, fp8)                                                                            \
  FROM_TWO(E, Bf8, bf8)                                                                            \
  FROM_TWO(E, Fp4, fp4)                                                                            \
  FROM_SIX(E, Fp6, fp6)                                                                            \
  FROM_SIX(E, Bf6, bf6)
FROM_EACH(f32)
FROM_EACH(f16)
FROM_EACH(bf16)

/// Two values into a part of a word whose other parts stay.
#define TO_TWO(E, TO, to, CALL)                                                                    \
  template <u32 At> struct pk_##to##_##E : Row {                                                   \
    DEVICE(const f32 scale = scaleOf<6>(x); const auto v = values<Vec<E, 2>, false>(x, scale);     \
           return __builtin_bit_cast(u32, CALL);)                                                  \
    HOST(constexpr u32 kBits = matrix::bitsOf(Number::TO), kAt = 2 * kBits * At;                   \
         const f32 scale = scaleOf<6>(x); u32 r = x.b[0] & ~(((1u << 2 * kBits) - 1) << kAt);      \
         for (u32 i = 0; i < 2; ++i) r |=                                                          \
         codeOf(Number::TO, f64(wide<false>(x, i, scale)) / scale) << (kAt + kBits * i);           \
         return r;)                                                                                \
  };
#define OLD_HALVES __builtin_bit_cast(i16x2, x.b[0])
#define TO_TWO_EACH(TO, to)                                                                        \
  TO_TWO(f32, TO, to,                                                                              \
         (__builtin_amdgcn_cvt_scalef32_pk_##to##_f32(OLD_HALVES, v[0], v[1], scale, At)))         \
  TO_TWO(f16, TO, to, (__builtin_amdgcn_cvt_scalef32_pk_##to##_f16(OLD_HALVES, v, scale, At)))     \
  TO_TWO(bf16, TO, to, (__builtin_amdgcn_cvt_scalef32_pk_##to##_bf16(OLD_HALVES, v, scale, At)))
TO_TWO_EACH(Fp8, fp8)
TO_TWO_EACH(Bf8, bf8)
TO_TWO(f32, Fp4, fp4, (__builtin_amdgcn_cvt_scalef32_pk_fp4_f32(x.b[0], v[0], v[1], scale, At)))
TO_TWO(f16, Fp4, fp4, (__builtin_amdgcn_cvt_scalef32_pk_fp4_f16(x.b[0], v, scale, At)))
TO_TWO(bf16, Fp4, fp4, (__builtin_amdgcn_cvt_scalef32_pk_fp4_bf16(x.b[0], v, scale, At)))

/// 32 values into six words; two vectors of float32 interleave.
#define TO_SIX(NAME, TO, EXACT, ELEMENT, CALL)                                                     \
  struct NAME : Row {                                                                              \
    DEVICE(const f32 scale = scaleOf<6>(x); return hashOf<6>(CALL);)                               \
    HOST(const f32 scale = scaleOf<6>(x); Packed packed(6);                                        \
         for (u32 i = 0; i < 32; ++i)                                                              \
             packed.add(codeOf(Number::TO, f64(wide<EXACT>(x, ELEMENT, scale)) / scale));          \
         return packed.hash();)                                                                    \
  };
#define VALUES(E, N, EXACT, FIRST) (values<Vec<E, N>, EXACT>(x, scale, FIRST))
#define TO_SIX_EACH(TO, to)                                                                        \
  TO_SIX(pk32_##to##_2f32, TO, false, i / 2 + 16 * (i % 2),                                        \
         __builtin_amdgcn_cvt_scalef32_2xpk16_##to##_f32(VALUES(f32, 16, false, 0),                \
                                                         VALUES(f32, 16, false, 16), scale))       \
  TO_SIX(pk32_##to##_f16, TO, false, i,                                                            \
         __builtin_amdgcn_cvt_scalef32_pk32_##to##_f16(VALUES(f16, 32, false, 0), scale))          \
  TO_SIX(pk32_##to##_bf16, TO, false, i,                                                           \
         __builtin_amdgcn_cvt_scalef32_pk32_##to##_bf16(VALUES(bf16, 32, false, 0), scale))        \
  TO_SIX(sr_pk32_##to##_f32, TO, true, i,                                                          \
         __builtin_amdgcn_cvt_scalef32_sr_pk32_##to##_f32(VALUES(f32, 32, true, 0), x.c, scale))   \
  TO_SIX(sr_pk32_##to##_f16, TO, true, i,                                                          \
         __builtin_amdgcn_cvt_scalef32_sr_pk32_##to##_f16(VALUES(f16, 32, true, 0), x.c, scale))   \
  TO_SIX(sr_pk32_##to##_bf16, TO, true, i,                                                         \
         __builtin_amdgcn_cvt_scalef32_sr_pk32_##to##_bf16(VALUES(bf16, 32, true, 0), x.c, scale))
TO_SIX_EACH(Fp6, fp6)
TO_SIX_EACH(Bf6, bf6)

/// With stochastic rounding: one value into a byte, or two into one of four bits each. Seen: the
/// bits of the result that are looked at.
#define TO_NOISY(NAME, E, TO, COUNT, SEEN, CALL)                                                   \
  template <u32 At> struct NAME : Row {                                                            \
    DEVICE(const f32 scale = scaleOf<6>(x); const auto v = values<Vec<E, 2>, true>(x, scale);      \
           return u32(CALL) & (SEEN);)                                                             \
    HOST(const f32 scale = scaleOf<6>(x); u32 r = x.b[0] & ~(0xffu << 8 * At);                     \
         for (u32 i = 0; i < COUNT; ++i) r |=                                                      \
         codeOf(Number::TO, f64(wide<true>(x, i, scale)) / scale) << (8 * At + 4 * i);             \
         return r & (SEEN);)                                                                       \
  };
#define TO_NOISY_EACH(E)                                                                           \
  TO_NOISY(sr_fp8_##E, E, Fp8, 1, ~0u,                                                             \
           __builtin_amdgcn_cvt_scalef32_sr_fp8_##E(i32(x.b[0]), v[0], x.c, scale, At))            \
  TO_NOISY(sr_bf8_##E, E, Bf8, 1, ~0u,                                                             \
           __builtin_amdgcn_cvt_scalef32_sr_bf8_##E(i32(x.b[0]), v[0], x.c, scale, At))            \
  TO_NOISY(sr_pk_fp4_##E, E, Fp4, 2, 0xffu << 8 * At,                                              \
           __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_##E(x.b[0], v, x.c, scale, At))
TO_NOISY_EACH(f32)
TO_NOISY_EACH(f16)
TO_NOISY_EACH(bf16)

/// Every lane stores its words, then the wave reads them transposed: element `j` of a lane is one
/// of what the lanes of its sixteen stored.
#define TRANSPOSE(NAME, BITS, WORDS, V, BUILTIN)                                                   \
  struct NAME {                                                                                    \
    struct Args {                                                                                  \
      u32x4 a, b;                                                                                  \
      u32 c, extra;                                                                                \
      LDS u8 *lds;                                                                                 \
    };                                                                                             \
    using Result = u32;                                                                            \
    TRANSPOSE_ROW(BITS, WORDS, V, BUILTIN)                                                         \
  };
#ifdef __AMDGCN__
#define TRANSPOSE_ROW(BITS, WORDS, V, BUILTIN)                                                     \
  INLINE static u32 device(Args x) {                                                               \
    LDS u8 *own =                                                                                  \
        x.lds + 4 * WORDS * __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));     \
    for (u32 i = 0; i < WORDS; ++i)                                                                \
      *(LDS u32 *)(own + 4 * i) = x.a[i];                                                          \
    const V v = BUILTIN((LDS V *)own);                                                             \
    return hashOf<WORDS>(__builtin_bit_cast(Vec<u32, WORDS>, v));                                  \
  }
#else
#define TRANSPOSE_ROW(BITS, WORDS, V, BUILTIN)                                                     \
  static void host(const Args *args, u64, u32 *results) {                                          \
    for (u32 lane = 0; lane < 64; ++lane) {                                                        \
      const u32 group = lane / 16 * 16, t = lane % 16, each = BITS == 6 ? 16 : 64 / BITS;          \
      Packed packed(BITS);                                                                         \
      for (u32 j = 0; j < each; ++j) {                                                             \
        const u32 from = group + 16 / each * j + t / each, bit = t % each * BITS;                  \
        const u64 both = args[from].a[bit / 32] | u64(args[from].a[(bit / 32 + 1) % 4]) << 32;     \
        packed.add(u32(both >> bit % 32) & ((1u << BITS) - 1));                                    \
      }                                                                                            \
      results[lane] = packed.hash();                                                               \
    }                                                                                              \
  }
#endif
TRANSPOSE(read_tr4, 4, 2, i32x2, __builtin_amdgcn_ds_read_tr4_b64_v2i32)
TRANSPOSE(read_tr6, 6, 3, i32x3, __builtin_amdgcn_ds_read_tr6_b96_v3i32)
TRANSPOSE(read_tr8, 8, 2, i32x2, __builtin_amdgcn_ds_read_tr8_b64_v2i32)
TRANSPOSE(read_tr16, 16, 2, i16x4, __builtin_amdgcn_ds_read_tr16_b64_v4i16)

#endif

} // namespace scaled
