// Matrix instructions as small dense products. One driver derives every register map from the
// shape: lanes hold rows of A (columns of B) and groups of k, registers and lane segments hold rows
// of D. Accumulation runs over k in order, in float (products of 8 and 16 bit inputs are exact), or
// as CDNA3's matrix cores do it (GroupedSum.h).
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {
namespace {

#include "emulator/lanes/GroupedSum.h"

constexpr int kMaxItems = 32;
template <typename T> using Items = T[kMaxItems][kLanes];

inline float multiplyAdd(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return c + a * b;
#endif
}
inline u32 multiplyAdd(u32 a, u32 b, u32 c) { return a * b + c; }

int bitsOfType(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
  case MatrixType::Bf16:
    return 16;
  case MatrixType::F32:
  case MatrixType::Xf32:
    return 32;
  case MatrixType::Fp6:
  case MatrixType::Bf6:
    return 6;
  case MatrixType::Fp4:
    return 4;
  default:
    return 8;
  }
}

template <typename F>
inline void unpackEach(float *to, const u32 *words, int shift, u32 mask, F convert) {
  WAVESMITH_INDEPENDENT
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = convert((words[lane] >> shift) & mask);
}

void unpack(Items<float> &to, const u32 *words, MatrixType type, int count, bool ocp) {
  int bits = bitsOfType(type);
  for (int item = 0; item < count; ++item) {
    const u32 *word = words + (item * bits / 32) * kLanes;
    int shift = item * bits % 32;
    float *row = to[item];
    switch (type) {
    case MatrixType::F16:
      unpackEach(row, word, shift, 0xffff, [](u32 x) { return halfToFloat(lowHalf(x)); });
      break;
    case MatrixType::Bf16:
      unpackEach(row, word, shift, 0xffff, [](u32 x) { return bf16ToFloat(x); });
      break;
    case MatrixType::Fp8:
      if (ocp)
        unpackEach(row, word, shift, 0xff, [](u32 x) { return fromFloat8<false>(x, true); });
      else
        unpackEach(row, word, shift, 0xff, [](u32 x) { return fromFloat8<false>(x, false); });
      break;
    case MatrixType::Bf8:
      if (ocp)
        unpackEach(row, word, shift, 0xff, [](u32 x) { return fromFloat8<true>(x, true); });
      else
        unpackEach(row, word, shift, 0xff, [](u32 x) { return fromFloat8<true>(x, false); });
      break;
    case MatrixType::Fp4:
      unpackEach(row, word, shift, 0xf, [](u32 x) { return fromFp4(x); });
      break;
    case MatrixType::Fp6:
    case MatrixType::Bf6:
      for (int lane = 0; lane < kLanes; ++lane) {
        u64 pair = word[lane] | (shift > 26 ? u64{word[lane + kLanes]} << 32 : 0);
        u32 x = static_cast<u32>(pair >> shift) & 0x3f;
        row[lane] = type == MatrixType::Fp6 ? fromFp6(x) : fromBf6(x);
      }
      break;
    case MatrixType::Xf32:
      unpackEach(row, word, 0, ~0u, [](u32 x) { return floatOf(x & 0xffffe000); });
      break;
    default:
      unpackEach(row, word, 0, ~0u, [](u32 x) { return floatOf(x); });
      break;
    }
  }
}
void unpack(Items<u32> &to, const u32 *words, MatrixType, int count, bool) {
  for (int item = 0; item < count; ++item)
    for (int lane = 0; lane < kLanes; ++lane)
      to[item][lane] = static_cast<u32>(
          static_cast<i32>(words[item / 4 * kLanes + lane] << (24 - 8 * (item % 4))) >> 24);
}

/// Where element k of a row lives: item of the lane, and which group of lanes.
struct Place {
  int item, group;
};
Place placeOf(const MatrixShape &shape, int k, int items, bool split) {
  if (split) {
    int half = shape.k / 2;
    return {(k / half) * 16 + k % 16, (k % half) / 16};
  }
  return {k % items, k / items};
}

template <typename T> void permuteLanes(Items<T> &values, int items, const int *from) {
  T row[kLanes];
  for (int item = 0; item < items; ++item) {
    for (int lane = 0; lane < kLanes; ++lane)
      row[lane] = values[item][from[lane]];
    for (int lane = 0; lane < kLanes; ++lane)
      values[item][lane] = row[lane];
  }
}

template <typename T>
void applyBroadcasts(const MatrixIo &io, Items<T> &a, int itemsA, Items<T> &b, int itemsB) {
  int from[kLanes];
  if (io.broadcastSize) {
    // A broadcast over more blocks than there are lanes is undefined; here it must only be
    // harmless.
    int size = io.broadcastSize < 7 ? kLanes >> io.broadcastSize : 1;
    for (int lane = 0; lane < kLanes; ++lane)
      from[lane] = (lane % size + size * io.broadcastId) % kLanes;
    permuteLanes(a, itemsA, from);
  }
  if (io.permuteB) {
    for (int lane = 0; lane < kLanes; ++lane) {
      int p = io.permuteB;
      from[lane] = p == 1   ? lane % 32
                   : p == 2 ? lane % 32 + 32
                   : p == 3 ? (lane + 16) % 64
                            : lane % 16 + 16 * (p - 4);
    }
    permuteLanes(b, itemsB, from);
  }
}

/// E8M0 scales, one per 32 k and row: lane m + M*(k/32).
void applyScales(Items<float> &values, const MatrixShape &shape, int rows, int items, bool split,
                 const u32 *scales) {
  for (int k = 0; k < shape.k; ++k) {
    Place place = placeOf(shape, k, items, split);
    for (int row = 0; row < rows; ++row) {
      u32 e = scales[row + rows * (k / 32)] & 0xff;
      float factor =
          e == 0xff ? floatOf(0x7fc00000) : (e == 0 ? floatOf(0x00400000) : floatOf(e << 23));
      values[place.item][row + rows * place.group] *= factor;
    }
  }
}

/// One D register: its 64 lanes are 64/N rows (or blocks) of N columns.
template <typename T, int kN>
void product(const MatrixIo &io, const Items<T> &a, const Items<T> &b, int itemsA, int itemsB) {
  const MatrixShape &shape = io.shape;
  constexpr int kSegments = kLanes / kN;
  const int groupRows = shape.m / 4 < kSegments ? shape.m / 4 : kSegments;
  const int registersPerBlock = shape.m / (4 * groupRows) * 4;
  const int registers = shape.m * kN * shape.blocks / kLanes;
  const T *aRows[128], *bRows[128];
  for (int k = 0; k < shape.k; ++k) {
    Place pa = placeOf(shape, k, itemsA, io.splitA), pb = placeOf(shape, k, itemsB, io.splitB);
    aRows[k] = a[pa.item] + shape.m * shape.blocks * pa.group;
    bRows[k] = b[pb.item] + kN * shape.blocks * pb.group;
  }
  // Two registers share each load of B.
  for (int r = 0; r < registers; r += 2) {
    int rowOf[2][kSegments], columnOf[kSegments];
    for (int s = 0; s < kSegments; ++s) {
      int block = s / groupRows + kSegments / groupRows * (r / registersPerBlock);
      for (int j = 0; j < 2; ++j)
        rowOf[j][s] = (r + j) % 4 +
                      4 * (s % groupRows + groupRows * ((r % registersPerBlock) / 4)) +
                      shape.m * block;
      columnOf[s] = kN * block;
    }
    alignas(64) T sum[2][kLanes];
    for (int j = 0; j < 2; ++j)
      __builtin_memcpy(sum[j], io.c + (r + j) * kLanes, sizeof(sum[j]));
    for (int k = 0; k < shape.k; ++k) {
      const T *aRow = aRows[k], *bRow = bRows[k];
#pragma GCC unroll 4
      for (int s = 0; s < kSegments; ++s) {
        const T *column = bRow + columnOf[s];
        T x = aRow[rowOf[0][s]], y = aRow[rowOf[1][s]];
#pragma GCC unroll 32
        for (int n = 0; n < kN; ++n) {
          sum[0][s * kN + n] = multiplyAdd(x, column[n], sum[0][s * kN + n]);
          sum[1][s * kN + n] = multiplyAdd(y, column[n], sum[1][s * kN + n]);
        }
      }
    }
    for (int j = 0; j < 2; ++j)
      __builtin_memcpy(io.d + (r + j) * kLanes, sum[j], sizeof(sum[j]));
  }
}

/// Significands and exponents of B's items, and what both operands may hold.
struct GroupedItems {
  Parts rows[kMaxItems][kLanes];
  Items<i32> significands, exponents;
  bool special = false; ///< NaN, infinity, or a product of 2^126 and more

  GroupedItems(const Items<float> &a, GroupedType typeA, int itemsA, const Items<float> &b,
               GroupedType typeB, int itemsB) {
    i32 largest[2] = {kNoExponent, kNoExponent};
    auto see = [&](i32 &most, Parts parts) {
      most = parts.exponent > most ? parts.exponent : most;
      return parts;
    };
    for (int item = 0; item < itemsA; ++item)
      for (int lane = 0; lane < kLanes; ++lane)
        rows[item][lane] = see(largest[0], partsOf(a[item][lane], typeA));
    for (int item = 0; item < itemsB; ++item)
      for (int lane = 0; lane < kLanes; ++lane) {
        Parts parts = see(largest[1], partsOf(b[item][lane], typeB));
        significands[item][lane] = parts.significand;
        exponents[item][lane] = parts.exponent;
      }
    // The exponent of NaN and infinity is 128.
    special = largest[0] == 128 || largest[1] == 128 || largest[0] + largest[1] >= 126;
  }
};

/// The same, in groups of k.
void productGrouped(const MatrixIo &io, const Items<float> &a, const Items<float> &b, int itemsA,
                    int itemsB) {
  const MatrixShape &shape = io.shape;
  const int segments = kLanes / shape.n;
  const int groupRows = shape.m / 4 < segments ? shape.m / 4 : segments;
  const int registersPerBlock = shape.m / (4 * groupRows) * 4;
  const bool eightBit = bitsOfType(shape.a) == 8;
  int group = eightBit ? 16 : (shape.a == MatrixType::Xf32 ? 4 : 8);
  group = group < shape.k ? group : shape.k;
  const GroupedType typeA = groupedTypeOf(shape.a, io.ocp), typeB = groupedTypeOf(shape.b, io.ocp);
  const int up = 24 - typeA.fraction - typeB.fraction;
  GroupedItems items(a, typeA, itemsA, b, typeB, itemsB);
  for (int r = 0; r < shape.m * shape.n * shape.blocks / kLanes; ++r)
    for (int s = 0; s < segments; ++s) {
      int block = s / groupRows + segments / groupRows * (r / registersPerBlock);
      int row =
          r % 4 + 4 * (s % groupRows + groupRows * ((r % registersPerBlock) / 4)) + shape.m * block;
      float sums[kMaxColumns];
      __builtin_memcpy(sums, io.c + r * kLanes + s * shape.n, sizeof(float) * shape.n);
      for (int first = 0; first < shape.k; first += group) {
        Parts rows[16];
        const i32 *significands[16], *exponents[16];
        const float *x[16], *y[16];
        for (int i = 0; i < group; ++i) {
          Place pa = placeOf(shape, first + i, itemsA, false),
                pb = placeOf(shape, first + i, itemsB, false);
          int from = row + shape.m * shape.blocks * pa.group,
              to = shape.n * (block + shape.blocks * pb.group);
          rows[i] = items.rows[pa.item][from];
          significands[i] = items.significands[pb.item] + to;
          exponents[i] = items.exponents[pb.item] + to;
          x[i] = a[pa.item] + from;
          y[i] = b[pb.item] + to;
        }
        float before[kMaxColumns];
        __builtin_memcpy(before, sums, sizeof(float) * shape.n);
        addGroup({rows, significands, exponents, shape.n}, group, up, eightBit, sums);
        for (int n = 0; n < shape.n; ++n)
          if (items.special || (bitsOf(before[n]) & 0x7f800000) == 0x7f800000)
            decidesAlone(x, y, n, group, before[n], &sums[n]);
      }
      __builtin_memcpy(io.d + r * kLanes + s * shape.n, sums, sizeof(float) * shape.n);
    }
}

#if defined(__AVX512F__)
/// The 32x32 and 16x16 one-block shapes, which carry all attention kernels, in registers.
template <int kN>
void productWide(const MatrixIo &io, const Items<float> &a, const Items<float> &b, int itemsA,
                 int itemsB) {
  const MatrixShape &shape = io.shape;
  constexpr int kSegments = kLanes / kN, kVectors = kN / 16;
  const float *aRows[128], *bRows[128];
  for (int k = 0; k < shape.k; ++k) {
    Place pa = placeOf(shape, k, itemsA, io.splitA), pb = placeOf(shape, k, itemsB, io.splitB);
    aRows[k] = a[pa.item] + shape.m * pa.group;
    bRows[k] = b[pb.item] + kN * pb.group;
  }
  for (int r = 0; r < shape.m * kN / kLanes; r += 4) {
    __m512 sum[4][4];
    for (int j = 0; j < 4; ++j)
      for (int v = 0; v < 4; ++v)
        sum[j][v] = _mm512_loadu_ps(io.c + (r + j) * kLanes + 16 * v);
    const int base = kSegments * r;
    for (int k = 0; k < shape.k; ++k) {
      const float *row = aRows[k] + base;
      __m512 column[kVectors];
      for (int v = 0; v < kVectors; ++v)
        column[v] = _mm512_loadu_ps(bRows[k] + 16 * v);
      for (int j = 0; j < 4; ++j)
        for (int v = 0; v < 4; ++v)
          sum[j][v] = _mm512_fmadd_ps(_mm512_set1_ps(row[j + 4 * (v / kVectors)]),
                                      column[v % kVectors], sum[j][v]);
    }
    for (int j = 0; j < 4; ++j)
      for (int v = 0; v < 4; ++v)
        _mm512_storeu_ps(io.d + (r + j) * kLanes + 16 * v, sum[j][v]);
  }
}
#endif

/// 4:2 sparse A: stored items 2q and 2q+1 go to the places in group q that the index names.
template <typename T> void spread(Items<T> &values, int items, const u32 *index, int shift) {
  Items<T> stored;
  __builtin_memcpy(stored, values, sizeof(stored));
  for (int item = 0; item < items; ++item)
    for (int lane = 0; lane < kLanes; ++lane)
      values[item][lane] = 0;
  for (int i = 0; i < items / 2; ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      u32 at = (index[lane] >> shift >> (2 * i)) & 3;
      values[i / 2 * 4 + static_cast<int>(at)][lane] = stored[i][lane];
    }
}

template <typename T> void multiply(const MatrixIo &io) {
  const MatrixShape &shape = io.shape;
  int itemsA = shape.m * shape.k * shape.blocks / kLanes;
  int itemsB = shape.n * shape.k * shape.blocks / kLanes;
  alignas(64) Items<T> a, b;
  unpack(a, io.a, shape.a, io.sparseIndex ? itemsA / 2 : itemsA, io.ocp);
  if (io.sparseIndex)
    spread(a, itemsA, io.sparseIndex, io.indexShift);
  unpack(b, io.b, shape.b, itemsB, io.ocp);
  applyBroadcasts(io, a, itemsA, b, itemsB);
  if constexpr (__is_same(T, float)) {
    if (io.scaleA)
      applyScales(a, shape, shape.m, itemsA, io.splitA, io.scaleA);
    if (io.scaleB)
      applyScales(b, shape, shape.n, itemsB, io.splitB, io.scaleB);
    if (io.grouped)
      return productGrouped(io, a, b, itemsA, itemsB);
#if defined(__AVX512F__)
    if (shape.blocks == 1 && shape.n == 32)
      return productWide<32>(io, a, b, itemsA, itemsB);
    if (shape.blocks == 1 && shape.n == 16)
      return productWide<16>(io, a, b, itemsA, itemsB);
#endif
  }
  if (shape.n == 32)
    product<T, 32>(io, a, b, itemsA, itemsB);
  else if (shape.n == 16)
    product<T, 16>(io, a, b, itemsA, itemsB);
  else
    product<T, 4>(io, a, b, itemsA, itemsB);
}

/// float64: one k per group of lanes; D's rows run over lane segments first. BLGP negates.
void multiplyDouble(const MatrixIo &io) {
  const MatrixShape &shape = io.shape;
  auto load = [](const u32 *words, int lane) { return loadLane<double>(words, lane); };
  double result[4][kLanes];
  double signA = io.permuteB & 1 ? -1 : 1, signB = io.permuteB & 2 ? -1 : 1,
         signC = io.permuteB & 4 ? -1 : 1;
  for (int block = 0; block < shape.blocks; ++block)
    for (int m = 0; m < shape.m; ++m)
      for (int n = 0; n < shape.n; ++n) {
        int item = m / 4, lane = n + shape.n * (block + shape.blocks * (m % 4));
        double sum = signC * load(io.c + 2 * item * kLanes, lane);
        for (int k = 0; k < shape.k; ++k)
          sum = __builtin_fma(signA * load(io.a, m + shape.m * (block + shape.blocks * k)),
                              signB * load(io.b, n + shape.n * (block + shape.blocks * k)), sum);
        result[item][lane] = sum;
      }
  for (int item = 0; item < shape.m * shape.n * shape.blocks / kLanes; ++item)
    for (int lane = 0; lane < kLanes; ++lane)
      storeLane(io.d + 2 * item * kLanes, lane, result[item][lane]);
}

} // namespace

void matrixProduct(const MatrixIo &io);
void matrixProduct(const MatrixIo &io) {
  if (io.shape.a == MatrixType::F64)
    multiplyDouble(io);
  else if (io.shape.integer)
    multiply<u32>(io);
  else
    multiply<float>(io);
}

} // namespace wavesmith::emulator::WAVESMITH_LANES
