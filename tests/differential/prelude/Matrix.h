#pragma once
// Matrix instructions by clang's builtins: the instruction on the device; on the host plain loops
// over the register maps that AMD publishes (CDNA3 ISA 7.1, CDNA4 ISA 7.1 and 7.5; the
// calculator's). A lane gives bits, which choose among 0, +-1 and +-2 for every element, so that
// sums are exact in any order, and gets back one word of all its elements of D.

#include "tests/differential/prelude/Waves.h"

namespace matrix {

enum class Number { F16, BF16, F32, F64, I8, Fp8, Bf8, Fp6, Bf6, Fp4 };

constexpr u32 bitsOf(Number type) {
  switch (type) {
  case Number::F64:
    return 64;
  case Number::F32:
    return 32;
  case Number::F16:
  case Number::BF16:
    return 16;
  case Number::Fp6:
  case Number::Bf6:
    return 6;
  case Number::Fp4:
    return 4;
  default:
    return 8;
  }
}
/// How far apart the three bits of neighbours are that choose their values: nonzero, two, negative.
constexpr u32 choiceBits(Number type) {
  return bitsOf(type) == 6 ? 4 : bitsOf(type) == 64 ? 32 : bitsOf(type);
}

/// The lane's bits for its registers `word`.
INLINE inline u32 choices(u32x4 bits, u32 word) {
  const u32 x = bits[word % 4], y = bits[(word + 1) % 4];
  return x ^ (y << word | y >> ((32 - word) & 31));
}

/// A shape: elements are M x K, K x N and M x N in each of Blocks blocks. In gfx950's large shapes
/// a lane's registers hold a part of each half of K.
template <Number A, Number B, u32 M, u32 N, u32 K, u32 Blocks = 1, u32 Halves = 1,
          bool Sparse = false>
struct Form {
  static constexpr Number a = A, b = B;
  static constexpr u32 m = M, n = N, k = K, blocks = Blocks;
  static constexpr bool sparse = Sparse;
  static constexpr u32 perLaneA = M * K * Blocks / 64, perLaneB = N * K * Blocks / 64; // of all k
  static constexpr u32 perLaneD = M * N * Blocks / 64;
  static constexpr u32 halvesA = bitsOf(A) < 8 || (bitsOf(A) == 8 && Sparse) ? 1 : Halves;
  static constexpr u32 halvesB = bitsOf(B) < 8 ? 1 : Halves;
  static constexpr u32 wordsA = perLaneA * bitsOf(A) / (Sparse ? 64 : 32);
  static constexpr u32 wordsB = perLaneB * bitsOf(B) / 32;
};

struct Args {
  u32x4 a, b;
  u32 c, extra; ///< extra: the index of a sparse A, or the scales
};

#ifdef __AMDGCN__

#ifdef __gfx950__
inline constexpr u32 kBiasFp8 = 7, kBiasBf8 = 15;
#else
inline constexpr u32 kBiasFp8 = 8, kBiasBf8 = 16;
#endif

template <class E, u32 Count> struct VectorOf {
  using Type = Vec<E, int(Count)>;
};
template <class E> struct VectorOf<E, 1> {
  using Type = E;
};

/// Registers of a lane with the elements that `bits` choose.
template <Number Type, u32 Words> INLINE inline auto registers(u32x4 bits) {
  using Registers = typename VectorOf<u32, Words>::Type;
  Registers r = Registers(0);
  auto put = [&](u32 at, u32 word) INLINE {
    if constexpr (Words == 1)
      r = word;
    else
      r[at] = word;
  };
  if constexpr (bitsOf(Type) == 6) {
    // 16 elements take three registers.
    constexpr u32 kOne = Type == Number::Fp6 ? 8 : 12, kTwo = 16;
    for (u32 triple = 0; triple < Words / 3; ++triple) {
      u64 low = 0, high = 0;
      for (u32 i = 0; i < 16; ++i) {
        const u32 choice = choices(bits, 2 * triple + i / 8) >> 4 * (i % 8);
        const u64 code = choice & 1 ? (choice & 2 ? kTwo : kOne) | (choice & 4 ? 32 : 0) : 0;
        const u32 bit = 6 * i;
        if (bit < 64)
          low |= code << bit;
        if (bit >= 64)
          high |= code << (bit - 64);
        else if (bit > 58)
          high |= code >> (64 - bit);
      }
      put(3 * triple, u32(low));
      put(3 * triple + 1, u32(low >> 32));
      put(3 * triple + 2, u32(high));
    }
  } else if constexpr (Type == Number::F64) {
    for (u32 i = 0; i < Words / 2; ++i) {
      const u32 choice = choices(bits, i);
      put(2 * i, 0);
      put(2 * i + 1,
          choice & 1 ? (choice & 2 ? 0x40000000u : 0x3ff00000u) | (choice & 4) << 29 : 0);
    }
  } else {
    constexpr u32 kWidth = bitsOf(Type);
    constexpr u32 kOnes = kWidth == 32   ? 1
                          : kWidth == 16 ? 0x10001
                          : kWidth == 8  ? 0x01010101
                                         : 0x11111111;
    constexpr u32 kOne = Type == Number::F32    ? 0x3f800000
                         : Type == Number::F16  ? 0x3c00
                         : Type == Number::BF16 ? 0x3f80
                         : Type == Number::Fp8  ? kBiasFp8 << 3
                         : Type == Number::Bf8  ? kBiasBf8 << 2
                         : Type == Number::Fp4  ? 2
                                                : 1;
    constexpr u32 kStep = Type == Number::F32    ? 0x00800000
                          : Type == Number::F16  ? 0x0400
                          : Type == Number::BF16 ? 0x0080
                          : Type == Number::Fp8  ? 8
                          : Type == Number::Bf8  ? 4
                          : Type == Number::Fp4  ? 2
                                                 : 1;
    for (u32 i = 0; i < Words; ++i) {
      const u32 choice = choices(bits, i), some = choice & kOnes, two = choice >> 1 & some,
                negative = choice >> 2 & some;
      u32 word = some * kOne + two * kStep;
      if constexpr (Type == Number::I8)
        word = (word ^ negative * 0xff) + negative;
      else
        word |= negative << (kWidth - 1);
      put(i, word);
    }
  }
  return r;
}

/// What is added to: small whole numbers.
template <class Element, u32 Count> INLINE inline auto startOf(u32 bits) {
  typename VectorOf<Element, Count>::Type c = {};
  for (u32 i = 0; i < Count; ++i)
    c = withElement(c, i, Element(i32(bits >> 4 * (i % 8) & 7) - 3));
  return c;
}
INLINE inline u32 wordOf(f64 x) {
  const u64 both = __builtin_bit_cast(u64, x);
  return u32(both) ^ u32(both >> 32);
}
INLINE inline u32 wordOf(f32 x) { return __builtin_bit_cast(u32, x); }
INLINE inline u32 wordOf(i32 x) { return u32(x); }
template <class D> INLINE inline u32 digest(D d) {
  u32 r = 0;
  for (u32 i = 0; i < kWidth<D>; ++i)
    r = r * 0x9e3779b1 + wordOf(element(d, i));
  return r;
}
/// The first registers of an operand that is as long as any format needs.
template <class V> INLINE inline i32x8 padded(V v) {
  i32x8 r = 0;
  for (u32 i = 0; i < kWidth<V>; ++i)
    r[i] = i32(v[i]);
  return r;
}
/// Two ascending places out of four for each pair of stored elements.
INLINE inline u32 places(u32 bits) {
  u32 r = 0;
  for (u32 i = 0; i < 8; ++i)
    r |= (0xed9c84u >> 4 * ((bits >> 4 * i & 15) % 6) & 15) << 4 * i;
  return r;
}
/// Scales of 1/2 and 1, one in each byte.
INLINE inline u32 scales(u32 bits) { return 0x7e7e7e7e + (bits & 0x01010101); }

#else

inline u32 wordOf(f64 x) {
  const u64 both = __builtin_bit_cast(u64, x);
  return u32(both) ^ u32(both >> 32);
}
inline u32 wordOf(f32 x) { return __builtin_bit_cast(u32, x); }
inline u32 wordOf(i32 x) { return u32(x); }

inline i32 valueOf(Number type, u32x4 bits, u32 item) {
  const u32 width = choiceBits(type);
  const u32 choice = choices(bits, item * width / 32) >> item * width % 32;
  const i32 magnitude = choice & 1 ? (choice & 2 ? 2 : 1) : 0;
  return choice & 4 ? -magnitude : magnitude;
}
/// Where a stored element of a sparse row stands in its four.
inline u32 placeOf(u32 bits, u32 item) {
  const u32 pair = 0xed9c84u >> 4 * ((bits >> 4 * (item / 2) & 15) % 6) & 15;
  return item % 2 ? pair >> 2 : pair & 3;
}
/// The lane and the element in it of row or column `line` at `k`.
struct Place {
  u32 lane, item;
};
inline Place placeAt(u32 line, u32 k, u32 block, u32 lines, u32 depth, u32 blocks, u32 perLane,
                     u32 halves) {
  const u32 each = perLane / halves, half = depth / halves;
  return {line + lines * (block + blocks * (k % half / each)), k / half * each + k % each};
}

struct Options {
  u32 broadcast = 0, from = 0; ///< CBSZ and ABID of shapes with several blocks
  u32 lanesB = 0;              ///< BLGP
  u32 set = 0;                 ///< of the index of a sparse A: ABID
  bool scaled = false;
  u32 byteA = 0, byteB = 0; ///< of the scales
};
inline u32 laneOfA(u32 lane, const Options &options) {
  const u32 group = 64 >> options.broadcast;
  return options.broadcast ? lane % group + group * options.from : lane;
}
inline u32 laneOfB(u32 lane, const Options &options) {
  switch (options.lanesB) {
  case 0:
    return lane;
  case 1:
    return lane % 32;
  case 2:
    return lane % 32 + 32;
  case 3:
    return (lane + 16) % 64;
  default:
    return lane % 16 + 16 * (options.lanesB - 4);
  }
}

template <class S, class Element>
inline void multiply(const Args *args, u32 *results, const Options &options) {
  static f64 a[S::blocks * S::m * S::k], b[S::blocks * S::n * S::k];
  for (u32 block = 0; block < S::blocks; ++block) {
    for (u32 m = 0; m < S::m; ++m) {
      f64 *row = a + (block * S::m + m) * S::k;
      for (u32 k = 0; k < S::k; ++k)
        row[k] = 0;
      for (u32 k = 0; k < S::k; k += S::sparse ? 4 : 1) {
        const Place at = placeAt(m, k, block, S::m, S::k, S::blocks, S::perLaneA, S::halvesA);
        if constexpr (S::sparse) {
          for (u32 item = at.item / 2; item < at.item / 2 + 2; ++item)
            row[k + placeOf(args[at.lane].extra, options.set * S::perLaneA / 2 + item)] =
                valueOf(S::a, args[at.lane].a, item);
        } else {
          row[k] = valueOf(S::a, args[laneOfA(at.lane, options)].a, at.item);
          if (options.scaled && !(args[m + S::m * (k / 32)].extra >> 8 * options.byteA & 1))
            row[k] /= 2;
        }
      }
    }
    for (u32 n = 0; n < S::n; ++n)
      for (u32 k = 0; k < S::k; ++k) {
        const Place at = placeAt(n, k, block, S::n, S::k, S::blocks, S::perLaneB, S::halvesB);
        f64 &element = b[(block * S::n + n) * S::k + k];
        element = valueOf(S::b, args[laneOfB(at.lane, options)].b, at.item);
        if (options.scaled && !(args[n + S::n * (k / 32)].extra >> (8 * options.byteB + 1) & 1))
          element /= 2;
      }
  }
  static u32 words[64][S::perLaneD];
  for (u32 block = 0; block < S::blocks; ++block)
    for (u32 m = 0; m < S::m; ++m)
      for (u32 n = 0; n < S::n; ++n) {
        // Four rows to a lane, then the next lanes. float64: one row, blocks fill lanes first.
        constexpr u32 kGroups = S::n == 4 ? 1 : 64 / S::n, kAcross = 64 / (S::n * kGroups);
        u32 item = m % 4 + 4 * (m / (4 * kGroups) + S::m / (4 * kGroups) * (block / kAcross));
        u32 lane = n + S::n * (m / 4 % kGroups + kGroups * (block % kAcross));
        if (S::a == Number::F64)
          item = m / 4, lane = n + S::n * (block + S::blocks * (m % 4));
        f64 sum = i32(args[lane].c >> 4 * (item % 8) & 7) - 3;
        for (u32 k = 0; k < S::k; ++k)
          sum += a[(block * S::m + m) * S::k + k] * b[(block * S::n + n) * S::k + k];
        words[lane][item] = wordOf(Element(sum));
      }
  for (u32 lane = 0; lane < 64; ++lane) {
    results[lane] = 0;
    for (u32 word : words[lane])
      results[lane] = results[lane] * 0x9e3779b1 + word;
  }
}

#endif

#ifdef __AMDGCN__
#define MATRIX_ROW(SHAPE, E, TA, TB, OPTIONS, CALL)                                                \
  using Args = matrix::Args;                                                                       \
  using Result = u32;                                                                              \
  using S = SHAPE;                                                                                 \
  INLINE static Result device(Args x) {                                                            \
    const auto a = __builtin_bit_cast(TA, registers<S::a, S::wordsA>(x.a));                        \
    const auto b = __builtin_bit_cast(TB, registers<S::b, S::wordsB>(x.b));                        \
    const auto c = startOf<E, S::perLaneD>(x.c);                                                   \
    const typename VectorOf<E, S::perLaneD>::Type d = CALL;                                        \
    return digest(d);                                                                              \
  }
#else
#define MATRIX_ROW(SHAPE, E, TA, TB, OPTIONS, CALL)                                                \
  using Args = matrix::Args;                                                                       \
  using Result = u32;                                                                              \
  static void host(const Args *args, u64, u32 *results) {                                          \
    multiply<SHAPE, E>(args, results, Options OPTIONS);                                            \
  }
#endif
#define COMMA ,

/// mfma_f32_32x32x8f16 and its like: Broadcast, From and LanesB are CBSZ, ABID and BLGP.
#define DENSE(NAME, A, B, M, K, BLOCKS, E, TA, TB)                                                 \
  template <u32 Broadcast = 0, u32 From = 0, u32 LanesB = 0> struct NAME {                         \
    MATRIX_ROW(Form<Number::A COMMA Number::B COMMA M COMMA M COMMA K COMMA BLOCKS>, E, TA, TB,    \
               ({.broadcast = Broadcast, .from = From, .lanesB = LanesB}),                         \
               __builtin_amdgcn_##NAME(a, b, c, Broadcast, From, LanesB))                          \
  };
#define SPARSE(NAME, A, B, M, K, HALVES, E, TA, TB)                                                \
  template <u32 Set = 0> struct NAME {                                                             \
    MATRIX_ROW(                                                                                    \
        Form<Number::A COMMA Number::B COMMA M COMMA M COMMA K COMMA 1 COMMA HALVES COMMA true>,   \
        E, TA, TB, ({.set = Set}), __builtin_amdgcn_##NAME(a, b, c, i32(places(x.extra)), 0, Set)) \
  };
#define EACH_FLOAT8(X, NAME, M, K, ...)                                                            \
  X(NAME##_fp8_fp8, Fp8, Fp8, M, K, __VA_ARGS__)                                                   \
  X(NAME##_fp8_bf8, Fp8, Bf8, M, K, __VA_ARGS__)                                                   \
  X(NAME##_bf8_fp8, Bf8, Fp8, M, K, __VA_ARGS__)                                                   \
  X(NAME##_bf8_bf8, Bf8, Bf8, M, K, __VA_ARGS__)

DENSE(mfma_f32_32x32x4f16, F16, F16, 32, 4, 2, f32, f16x4, f16x4)
DENSE(mfma_f32_16x16x4f16, F16, F16, 16, 4, 4, f32, f16x4, f16x4)
DENSE(mfma_f32_4x4x4f16, F16, F16, 4, 4, 16, f32, f16x4, f16x4)
DENSE(mfma_f32_32x32x8f16, F16, F16, 32, 8, 1, f32, f16x4, f16x4)
DENSE(mfma_f32_16x16x16f16, F16, F16, 16, 16, 1, f32, f16x4, f16x4)
DENSE(mfma_f32_32x32x4bf16_1k, BF16, BF16, 32, 4, 2, f32, i16x4, i16x4)
DENSE(mfma_f32_16x16x4bf16_1k, BF16, BF16, 16, 4, 4, f32, i16x4, i16x4)
DENSE(mfma_f32_4x4x4bf16_1k, BF16, BF16, 4, 4, 16, f32, i16x4, i16x4)
DENSE(mfma_f32_32x32x8bf16_1k, BF16, BF16, 32, 8, 1, f32, i16x4, i16x4)
DENSE(mfma_f32_16x16x16bf16_1k, BF16, BF16, 16, 16, 1, f32, i16x4, i16x4)
DENSE(mfma_f32_32x32x1f32, F32, F32, 32, 1, 2, f32, f32, f32)
DENSE(mfma_f32_16x16x1f32, F32, F32, 16, 1, 4, f32, f32, f32)
DENSE(mfma_f32_4x4x1f32, F32, F32, 4, 1, 16, f32, f32, f32)
DENSE(mfma_f32_32x32x2f32, F32, F32, 32, 2, 1, f32, f32, f32)
DENSE(mfma_f32_16x16x4f32, F32, F32, 16, 4, 1, f32, f32, f32)
DENSE(mfma_f64_16x16x4f64, F64, F64, 16, 4, 1, f64, f64, f64)
DENSE(mfma_f64_4x4x4f64, F64, F64, 4, 4, 4, f64, f64, f64)
DENSE(mfma_i32_32x32x4i8, I8, I8, 32, 4, 2, i32, i32, i32)
DENSE(mfma_i32_16x16x4i8, I8, I8, 16, 4, 4, i32, i32, i32)
DENSE(mfma_i32_4x4x4i8, I8, I8, 4, 4, 16, i32, i32, i32)
DENSE(mfma_i32_32x32x16_i8, I8, I8, 32, 16, 1, i32, i64, i64)
DENSE(mfma_i32_16x16x32_i8, I8, I8, 16, 32, 1, i32, i64, i64)
EACH_FLOAT8(DENSE, mfma_f32_32x32x16, 32, 16, 1, f32, i64, i64)
EACH_FLOAT8(DENSE, mfma_f32_16x16x32, 16, 32, 1, f32, i64, i64)
SPARSE(smfmac_f32_16x16x32_f16, F16, F16, 16, 32, 1, f32, f16x4, f16x8)
SPARSE(smfmac_f32_32x32x16_f16, F16, F16, 32, 16, 1, f32, f16x4, f16x8)
SPARSE(smfmac_f32_16x16x32_bf16, BF16, BF16, 16, 32, 1, f32, i16x4, i16x8)
SPARSE(smfmac_f32_32x32x16_bf16, BF16, BF16, 32, 16, 1, f32, i16x4, i16x8)
SPARSE(smfmac_i32_16x16x64_i8, I8, I8, 16, 64, 1, i32, i32x2, i32x4)
SPARSE(smfmac_i32_32x32x32_i8, I8, I8, 32, 32, 1, i32, i32x2, i32x4)
EACH_FLOAT8(SPARSE, smfmac_f32_16x16x64, 16, 64, 1, f32, i32x2, i32x4)
EACH_FLOAT8(SPARSE, smfmac_f32_32x32x32, 32, 32, 1, f32, i32x2, i32x4)

#ifndef __gfx950__
DENSE(mfma_f32_16x16x8_xf32, F32, F32, 16, 8, 1, f32, f32x2, f32x2)
DENSE(mfma_f32_32x32x4_xf32, F32, F32, 32, 4, 1, f32, f32x2, f32x2)
#endif

#if !defined(__AMDGCN__) || defined(__gfx950__)
DENSE(mfma_f32_16x16x32_f16, F16, F16, 16, 32, 1, f32, f16x8, f16x8)
DENSE(mfma_f32_32x32x16_f16, F16, F16, 32, 16, 1, f32, f16x8, f16x8)
DENSE(mfma_f32_16x16x32_bf16, BF16, BF16, 16, 32, 1, f32, bf16x8, bf16x8)
DENSE(mfma_f32_32x32x16_bf16, BF16, BF16, 32, 16, 1, f32, bf16x8, bf16x8)
DENSE(mfma_i32_16x16x64_i8, I8, I8, 16, 64, 1, i32, i32x4, i32x4)
DENSE(mfma_i32_32x32x32_i8, I8, I8, 32, 32, 1, i32, i32x4, i32x4)
SPARSE(smfmac_f32_16x16x64_f16, F16, F16, 16, 64, 2, f32, f16x8, f16x16)
SPARSE(smfmac_f32_32x32x32_f16, F16, F16, 32, 32, 2, f32, f16x8, f16x16)
SPARSE(smfmac_f32_16x16x64_bf16, BF16, BF16, 16, 64, 2, f32, bf16x8, bf16x16)
SPARSE(smfmac_f32_32x32x32_bf16, BF16, BF16, 32, 32, 2, f32, bf16x8, bf16x16)
SPARSE(smfmac_i32_16x16x128_i8, I8, I8, 16, 128, 2, i32, i32x4, i32x8)
SPARSE(smfmac_i32_32x32x64_i8, I8, I8, 32, 64, 2, i32, i32x4, i32x8)
EACH_FLOAT8(SPARSE, smfmac_f32_16x16x128, 16, 128, 2, f32, i32x4, i32x8)
EACH_FLOAT8(SPARSE, smfmac_f32_32x32x64, 32, 64, 2, f32, i32x4, i32x8)

/// The formats by their number in CBSZ and BLGP.
inline constexpr Number kFormats[] = {Number::Fp8, Number::Bf8, Number::Fp6, Number::Bf6,
                                      Number::Fp4};
#define SCALED(NAME, M, K)                                                                         \
  template <u32 FormatA, u32 FormatB, u32 ByteA, u32 ByteB> struct NAME {                          \
    using Args = matrix::Args;                                                                     \
    using Result = u32;                                                                            \
    using S = Form<kFormats[FormatA], kFormats[FormatB], M, M, K, 1, 2>;                           \
    SCALED_ROW(NAME)                                                                               \
  };
#ifdef __AMDGCN__
#define SCALED_ROW(NAME)                                                                           \
  INLINE static Result device(Args x) {                                                            \
    const typename VectorOf<f32, S::perLaneD>::Type d = __builtin_amdgcn_##NAME(                   \
        padded(registers<S::a, S::wordsA>(x.a)), padded(registers<S::b, S::wordsB>(x.b)),          \
        startOf<f32, S::perLaneD>(x.c), FormatA, FormatB, ByteA, i32(scales(x.extra)), ByteB,      \
        i32(scales(x.extra >> 1)));                                                                \
    return digest(d);                                                                              \
  }
#else
#define SCALED_ROW(NAME)                                                                           \
  static void host(const Args *args, u64, u32 *results) {                                          \
    multiply<S, f32>(args, results, {.scaled = true, .byteA = ByteA, .byteB = ByteB});             \
  }
#endif
SCALED(mfma_scale_f32_16x16x128_f8f6f4, 16, 128)
SCALED(mfma_scale_f32_32x32x64_f8f6f4, 32, 64)
#endif

} // namespace matrix
