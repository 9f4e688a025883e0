#pragma once
// Classes of magnitudes, as the kernel histogram counts them: eight an octave from 2^-20 on, that
// is float32's exponent and the three highest bits of its mantissa. Pure functions.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace wavesmith {

inline constexpr int kMagnitudeClasses = 256;
/// 8 * (127 - 20), that of 2^-20.
inline constexpr std::int32_t kFirstMagnitudeClass = 856;

/// Of a finite value: 0 also takes what is below 2^-20, the last all from 1.875 * 2^11 on.
inline int magnitudeClass(float value) {
  const auto octave =
      static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(std::abs(value)) >> 20);
  return std::clamp(octave - kFirstMagnitudeClass, 0, kMagnitudeClasses - 1);
}

} // namespace wavesmith
