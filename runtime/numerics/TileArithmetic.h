#pragma once
// The loops in which the model spends its time, chosen for the host's instruction set at start-up.
// Results do not depend on the choice. Immutable, any thread.

#include <cstdint>

#include "runtime/numerics/KernelNumerics.h"

namespace wavesmith::numerics {

/// c[rows][columns] += a[rows][depth] * b: every element a chain of float32 multiply-adds over the
/// depth in its order; b in panels of 32 columns (runtime/verify/BlockedProduct.h). Products of
/// bf16, f16 and FP8 values are exact in float32, so that fused or not is the same.
using ProductFunction = void (*)(const float *a, std::int64_t aStride, const float *b,
                                 std::int64_t depth, float *c, std::int64_t rows,
                                 std::int64_t columns);
ProductFunction productFunction();

/// The largest of the scores; `count` is a multiple of 32.
using MaximumFunction = float (*)(const float *scores, std::int64_t count);
/// weights = exp2(score * scale + bias), and what they are rounded to.
using WeightsFunction = void (*)(const float *scores, std::int64_t count, float scale, float bias,
                                 WeightRounding rounding, float *weights, float *rounded);
struct SoftmaxFunctions {
  MaximumFunction maximum;
  WeightsFunction weights;
};
SoftmaxFunctions softmaxFunctions();

} // namespace wavesmith::numerics
