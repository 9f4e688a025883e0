#pragma once
// bfloat16 as bits. Rounding is to nearest even, NaN stays NaN, as the hardware converts. Pure.

#include <bit>
#include <cstdint>

#include "runtime/verify/RoundToOdd.h"

namespace wavesmith {

inline float bf16ToFloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t floatToBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<std::uint16_t>((bits >> 16) | 0x40); // quiet, or rounding could make it inf
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Rounds once.
inline std::uint16_t doubleToBf16(double value) { return floatToBf16(roundToOdd(value)); }

} // namespace wavesmith
