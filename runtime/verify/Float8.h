#pragma once
// e4m3 as codes, in both formats: OCP (bias 7, NaN 0x7f and 0xff, up to 448) and fnuz (bias 8, NaN
// 0x80 and no negative zero, up to 240). Rounding is to nearest even and saturates. Pure.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/spec/KernelSpec.h"

namespace wavesmith {

constexpr int fp8Bias(Fp8Format format) { return format == Fp8Format::E4M3Fnuz ? 8 : 7; }
constexpr double fp8Largest(Fp8Format format) { return format == Fp8Format::E4M3Fnuz ? 240 : 448; }
constexpr std::uint8_t fp8Nan(Fp8Format format) {
  return format == Fp8Format::E4M3Fnuz ? 0x80 : 0xff;
}
constexpr bool isFp8Nan(Fp8Format format, std::uint8_t code) {
  return format == Fp8Format::E4M3Fnuz ? code == 0x80 : (code & 0x7f) == 0x7f;
}

inline double fp8ToDouble(Fp8Format format, std::uint8_t code) {
  if (isFp8Nan(format, code))
    return std::numeric_limits<double>::quiet_NaN();
  const int exponent = (code >> 3) & 15, mantissa = code & 7;
  // Exponent 0 has no leading one and the weight of exponent 1.
  const double magnitude = std::ldexp(exponent == 0 ? mantissa : 8 + mantissa,
                                      std::max(exponent, 1) - fp8Bias(format) - 3);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

inline std::uint8_t doubleToFp8(Fp8Format format, double value) {
  if (std::isnan(value))
    return fp8Nan(format);
  const double magnitude = std::min(std::abs(value), fp8Largest(format));
  const int bias = fp8Bias(format);
  const int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place; a carry moves on to the next exponent by itself.
  const int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  const int code = ((exponent + bias) << 3) + units - 8;
  const bool negative = std::signbit(value) && (code != 0 || format != Fp8Format::E4M3Fnuz);
  return static_cast<std::uint8_t>(negative ? code | 0x80 : code);
}

} // namespace wavesmith
