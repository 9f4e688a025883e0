// CDNA3's matrix cores as microsoft/MMA-Sim models them (mmasim/simulator: amd.py, functions.py;
// validated by its authors on an MI300X). Products of a group of k are aligned to the largest
// exponent and cut to 24 fractional bits, then added exactly; the sum and the accumulator meet at
// the larger exponent with 31 and 24 fractional bits, rounded down; one rounding to nearest even
// makes the accumulator of the next group. Included like Float.h, after it.

/// What the model asks of an operand type.
struct GroupedType {
  int fraction;    ///< bits of the significand behind the point
  int minExponent; ///< of normal numbers; denormals keep it
};
inline GroupedType groupedTypeOf(MatrixType type, bool ocp) {
  switch (type) {
  case MatrixType::F16:
    return {10, -14};
  case MatrixType::Bf16:
    return {7, -126};
  case MatrixType::Fp8:
    return {3, ocp ? -6 : -7};
  case MatrixType::Bf8:
    return {2, ocp ? -14 : -15};
  default: // Xf32
    return {10, -126};
  }
}

constexpr int kNoExponent = -999; ///< of zero: never the largest

/// Value = significand * 2^(exponent - fraction), of a finite float.
struct Parts {
  i32 significand, exponent;
};
inline Parts partsOf(float value, GroupedType type) {
  u32 bits = bitsOf(value), body = bits & 0x7fffffff;
  if (body == 0)
    return {0, kNoExponent};
  int field = static_cast<int>(body >> 23);
  i32 mantissa = static_cast<i32>((body & 0x7fffff) | (field ? 0x800000 : 0));
  int exponent = (field ? field : 1) - 127, down = 23 - type.fraction;
  if (exponent < type.minExponent) {
    down += type.minExponent - exponent;
    exponent = type.minExponent;
  }
  i32 significand = down < 31 ? mantissa >> down : 0; // exact
  return {static_cast<i32>(bits) < 0 ? -significand : significand, exponent};
}
inline i64 shiftedDown(i64 value, int by) { return value >> (by < 63 ? by : 63); }

/// One row of A against `columns` columns of B, over the k of a group: the rows' parts by k, the
/// columns' by k and column.
struct GroupOperands {
  const Parts *row;
  const i32 *const *significands, *const *exponents;
  int columns;
};
constexpr int kMaxColumns = 32;

/// Sums of every `stride`-th product from `first` on, in units of 2^(exponent - 24): exact, after
/// each is cut toward zero. `up` is what a product lacks of 24 bits behind the point.
inline void groupSums(const GroupOperands &o, int first, int count, int stride, int up, i32 *sums,
                      i32 *largest) {
  for (int n = 0; n < o.columns; ++n) {
    sums[n] = 0;
    largest[n] = 2 * kNoExponent;
  }
  for (int i = first; i < count; i += stride) {
    i32 exponent = o.row[i].exponent;
    const i32 *exponents = o.exponents[i];
    WAVESMITH_INDEPENDENT
    for (int n = 0; n < o.columns; ++n) {
      i32 sum = exponent + exponents[n];
      largest[n] = sum > largest[n] ? sum : largest[n];
    }
  }
  for (int i = first; i < count; i += stride) {
    Parts row = o.row[i];
    const i32 *exponents = o.exponents[i], *significands = o.significands[i];
    WAVESMITH_INDEPENDENT
    for (int n = 0; n < o.columns; ++n) {
      i32 apart = largest[n] - row.exponent - exponents[n];
      i32 product = row.significand * significands[n];
      i32 size = ((product < 0 ? -product : product) << up) >> (apart < 31 ? apart : 31);
      sums[n] += product < 0 ? -size : size;
    }
  }
}

/// c plus a group's sum, rounded to float32.
inline float addToAccumulator(float c, i64 sum, int exponent, bool eightBit) {
  Parts start = partsOf(c, {23, -126});
  int largest = exponent > start.exponent ? exponent : start.exponent;
  // In units of 2^(largest - 31).
  i64 total = shiftedDown(sum * 128, largest - exponent);
  if (!eightBit || start.exponent >= largest - 25)
    total += shiftedDown(i64{start.significand} * 2, largest - start.exponent) * 128;
  if (total == 0)
    return 0.0f;
  return static_cast<float>(static_cast<double>(total) *
                            doubleOf(static_cast<u64>(largest - 31 + 1023) << 52));
}

/// The accumulators of all columns after the group.
inline void addGroup(const GroupOperands &o, int count, int up, bool eightBit, float *sums) {
  i32 units[2][kMaxColumns], exponents[2][kMaxColumns];
  int halves = eightBit ? 2 : 1; // even and odd k apart
  for (int half = 0; half < halves; ++half)
    groupSums(o, half, count, halves, up, units[half], exponents[half]);
  for (int n = 0; n < o.columns; ++n) {
    i64 sum = units[0][n];
    int exponent = exponents[0][n];
    if (eightBit) {
      exponent = exponents[1][n] > exponent ? exponents[1][n] : exponent;
      sum = shiftedDown(units[0][n], exponent - exponents[0][n]) +
            shiftedDown(units[1][n], exponent - exponents[1][n]);
    }
    sums[n] = addToAccumulator(sums[n], sum, exponent, eightBit);
  }
}

/// NaN, infinities and products beyond float32 decide by themselves. Column n of `count` k.
inline void decidesAlone(const float *const *a, const float *const *b, int n, int count, float c,
                         float *result) {
  double sum = c;
  bool above = false, below = false;
  for (int i = 0; i < count; ++i) {
    double product = double{*a[i]} * double{b[i][n]};
    sum += product;
    above |= product >= 0x1p128;
    below |= product <= -0x1p128;
  }
  if (isNan(sum) || (above && below))
    *result = floatOf(0x7fc00000);
  else if (sum == __builtin_inf() || sum == -__builtin_inf())
    *result = static_cast<float>(sum);
  else if (above || below)
    *result = floatOf(above ? 0x7f800000 : 0xff800000);
}
