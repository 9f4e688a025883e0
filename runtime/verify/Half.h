#pragma once
// float16 as bits. Rounding is to nearest even with gradual underflow, NaN stays NaN, as the
// hardware converts. Pure.

#include <bit>
#include <cstdint>

#include "runtime/verify/RoundToOdd.h"

namespace wavesmith {

inline float halfToFloat(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // In float32's places the bits are the number times 2^(15 - 127).
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

inline std::uint16_t floatToHalf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffff;
  std::uint32_t rounded = 0x7c00; // from 2^16 on
  if (magnitude > 0x7f800000) {
    rounded = 0x7e00 | (magnitude >> 13 & 0x3ff);
  } else if (magnitude < 0x38800000) {
    // Below 2^-14 halves are multiples of 2^-24, as float32 is from 0.5 to 1.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    rounded = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f);
  } else if (magnitude < 0x47800000) {
    // What rounds up to 2^16 carries into the exponent of infinity.
    rounded = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  }
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | rounded);
}

/// Rounds once.
inline std::uint16_t doubleToHalf(double value) { return floatToHalf(roundToOdd(value)); }

} // namespace wavesmith
