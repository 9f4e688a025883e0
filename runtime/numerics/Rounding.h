#pragma once
// Round to nearest even in float32, branch-free, so that loops over rows vectorise. Include it only
// where -ffp-contract=off holds. Pure.

#include "runtime/numerics/Hardware.h"
#include "runtime/verify/BlockedProduct.h"

namespace wavesmith::numerics {

/// `dropped` low bits of a finite number's mantissa go.
WAVESMITH_INLINE float roundedOff(float value, int dropped) {
  const std::uint32_t bits = hardware::bitsOf(value), half = (1u << (dropped - 1)) - 1;
  return hardware::floatOf((bits + half + ((bits >> dropped) & 1)) & ~((1u << dropped) - 1));
}

/// A magnitude as the nearest number of a format with so many bits of mantissa, whose least normal
/// one is given. What is beyond the largest is the caller's.
WAVESMITH_INLINE float roundedToSmall(float magnitude, int mantissaBits, float leastNormal) {
  const int dropped = 23 - mantissaBits;
  // Next to a number so large, what remains are multiples of the format's smallest number.
  const float large = leastNormal * (1.5f * static_cast<float>(1 << dropped));
  return magnitude < leastNormal ? (magnitude + large) - large : roundedOff(magnitude, dropped);
}

/// Of e4m3.
WAVESMITH_INLINE float roundedToFp8(float magnitude, float leastNormal) {
  return roundedToSmall(magnitude, 3, leastNormal);
}

} // namespace wavesmith::numerics
