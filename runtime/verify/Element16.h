#pragma once
// A 16-bit element of an attention tensor as bits, bf16 or f16 by its dtype. Pure.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/spec/KernelSpec.h"
#include "runtime/verify/BFloat16.h"
#include "runtime/verify/Half.h"

namespace wavesmith {

inline float elementToFloat(DType dtype, std::uint16_t bits) {
  return dtype == DType::F16 ? halfToFloat(bits) : bf16ToFloat(bits);
}
inline std::uint16_t floatToElement(DType dtype, float value) {
  return dtype == DType::F16 ? floatToHalf(value) : floatToBf16(value);
}
/// As kernels store results: what is finite stays so in f16, where a weighted mean may be past its
/// largest element by the roundings of weights and sums.
inline std::uint16_t resultToElement(DType dtype, float value) {
  constexpr float kLargest = 65504;
  if (dtype == DType::F16 && std::isfinite(value))
    value = std::clamp(value, -kLargest, kLargest);
  return floatToElement(dtype, value);
}
/// Rounds once.
inline std::uint16_t doubleToElement(DType dtype, double value) {
  return dtype == DType::F16 ? doubleToHalf(value) : doubleToBf16(value);
}

} // namespace wavesmith
