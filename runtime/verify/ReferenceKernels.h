#pragma once
// The exponentials of the float64 reference, for one width of host vectors. Included once by
// Reference.cpp, which instantiates them for each instruction set.

#include <cstdint>
#include <cstring>

#include "runtime/verify/BlockedProduct.h"

namespace wavesmith::reference {

template <int Lanes> struct Vector;
template <> struct Vector<2> {
  using Type = double __attribute__((vector_size(16)));
  using Bits = std::int64_t __attribute__((vector_size(16)));
};
template <> struct Vector<4> {
  using Type = double __attribute__((vector_size(32)));
  using Bits = std::int64_t __attribute__((vector_size(32)));
};
template <> struct Vector<8> {
  using Type = double __attribute__((vector_size(64)));
  using Bits = std::int64_t __attribute__((vector_size(64)));
};

/// x = exp(x) for x <= 0 to about one unit in the last place; below -700 the result is 0. By
/// reference: vectors by value have another ABI for each instruction set.
template <int Lanes> WAVESMITH_INLINE void exponential(typename Vector<Lanes>::Type &x) {
  using V = typename Vector<Lanes>::Type;
  using B = typename Vector<Lanes>::Bits;
  const B tiny = x < -700.0;
  x = tiny ? V{} : x;
  // x = n ln2 + r, |r| <= ln2 / 2; adding and removing 1.5 * 2^52 rounds to the integer n.
  const double kRound = 0x1.8p52;
  const V shifted = x * 0x1.71547652b82fep0 + kRound;
  const V n = shifted - kRound;
  const V r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
  // Taylor to degree 13: the rest is below 2^-57 on this interval.
  const double kInverseFactorial[] = {1.0 / 6227020800,
                                      1.0 / 479001600,
                                      1.0 / 39916800,
                                      1.0 / 3628800,
                                      1.0 / 362880,
                                      1.0 / 40320,
                                      1.0 / 5040,
                                      1.0 / 720,
                                      1.0 / 120,
                                      1.0 / 24,
                                      1.0 / 6,
                                      0.5,
                                      1.0,
                                      1.0};
  V p = V{} + kInverseFactorial[0];
  for (int i = 1; i < 14; ++i)
    p = p * r + kInverseFactorial[i];
  B bits, exponent;
  std::memcpy(&bits, &p, sizeof bits);
  std::memcpy(&exponent, &shifted, sizeof exponent);
  bits += exponent << 52; // the low bits of `shifted` are n
  std::memcpy(&p, &bits, sizeof p);
  x = tiny ? V{} : (x == x ? p : x); // NaN stays
}

/// Turns a row of scores into exp(score - maximum) and returns their sum.
template <int Lanes>
WAVESMITH_INLINE double exponentials(double *row, std::int64_t count, double maximum) {
  using V = typename Vector<Lanes>::Type;
  V sum{};
  for (std::int64_t i = 0; i < count; i += Lanes) {
    V x;
    std::memcpy(&x, row + i, sizeof x);
    x -= maximum;
    exponential<Lanes>(x);
    sum += x;
    std::memcpy(row + i, &x, sizeof x);
  }
  double total = 0;
  for (int lane = 0; lane < Lanes; ++lane)
    total += sum[lane];
  return total;
}

} // namespace wavesmith::reference
