#pragma once
// float64 to float32 by rounding to odd: what is then rounded to a type of at most 22 bits is as if
// rounded once. Pure.

#include <bit>
#include <cstdint>

namespace wavesmith {

inline float roundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) != value && (bits & 0x7f800000) != 0x7f800000) {
    // Towards zero first, then the sticky bit.
    if ((static_cast<double>(nearest) > value) == (value > 0) && (bits & 0x7fffffff) != 0)
      --bits;
    bits |= 1;
  }
  return std::bit_cast<float>(bits);
}

} // namespace wavesmith
