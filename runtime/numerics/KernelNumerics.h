#pragma once
// What of an attention kernel decides its bits, as plain values: tile, orders of summation, softmax
// constants, roundings. The model's own table, which shares nothing with the compiler's; a test
// holds the model against emulated kernels bit by bit. Pure, any thread.

#include <cstdint>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith {

/// How a weight becomes an element that the matrix core multiplies.
enum class WeightRounding : std::uint8_t {
  Bf16Truncated,
  Bf16Away,
  Bf16Even,
  F16Truncated,
  F16Even,
  Fp8Fnuz,
  Fp8Ocp
};

struct KernelNumerics {
  int tileKeys = 0; ///< keys of one step of the online softmax
  /// Dot products take the elements of each run of so many in this order, and products with values
  /// take the keys of each run in the other.
  std::vector<int> elementOrder, keyOrder;
  float exponent = 0;  ///< log2 of the factor of all weights, which the sums cancel
  float gain = 1;      ///< what of that factor truncation takes: results get it back
  float threshold = 8; ///< log2 by which a row's maximum may outgrow its reference
  /// Sums of weights: of what they were rounded to, in keyOrder; else of float32 weights in four
  /// chains, of keys 4-7 of eight or not and odd or not.
  bool sumsRounded = false;
  WeightRounding rounding = WeightRounding::Bf16Even;
};

/// Of the default schedule. Unsupported: other schedules, soft caps and sinks.
Expected<KernelNumerics> kernelNumerics(const KernelSpec &spec);

} // namespace wavesmith
