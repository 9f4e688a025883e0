#pragma once
// A 16-bit element of an attention tensor as bits, bf16 or f16 by its dtype. Pure.

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
/// Rounds once.
inline std::uint16_t doubleToElement(DType dtype, double value) {
  return dtype == DType::F16 ? doubleToHalf(value) : doubleToBf16(value);
}

} // namespace wavesmith
