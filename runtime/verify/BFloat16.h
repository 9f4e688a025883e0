#pragma once
// bfloat16 as bits. Rounding is to nearest even, NaN stays NaN, as the hardware converts. Pure.

#include <bit>
#include <cstdint>

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

/// Rounds once: through float32 with round-to-odd, so that no double rounding happens.
inline std::uint16_t doubleToBf16(double value) {
  const auto nearest = static_cast<float>(value);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) != value && (bits & 0x7f800000) != 0x7f800000) {
    // Towards zero first, then the sticky bit.
    if ((static_cast<double>(nearest) > value) == (value > 0) && (bits & 0x7fffffff) != 0)
      --bits;
    bits |= 1;
  }
  return floatToBf16(std::bit_cast<float>(bits));
}

} // namespace wavesmith
