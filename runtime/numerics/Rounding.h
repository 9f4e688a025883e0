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

/// A magnitude as the nearest e4m3 number of a format whose least normal one is given. What is
/// beyond the largest is the caller's.
WAVESMITH_INLINE float roundedToFp8(float magnitude, float leastNormal) {
  // Next to a number so large, what remains are multiples of the smallest FP8 number.
  const float large = leastNormal * (1.5f * (1 << 20));
  return magnitude < leastNormal ? (magnitude + large) - large : roundedOff(magnitude, 20);
}

} // namespace wavesmith::numerics
