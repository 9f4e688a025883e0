#include "tests/mutation/Fp8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace wavesmith::testing {
namespace {

/// Codes 0...0x7f in rising order of value; the OCP format keeps 0x7f for NaN.
std::array<double, 128> positiveValues(Fp8Format format) {
  const int bias = format == Fp8Format::E4M3Fnuz ? 8 : 7;
  std::array<double, 128> values{};
  for (int code = 0; code < 128; ++code) {
    const int exponent = code >> 3, mantissa = code & 7;
    values[code] = exponent == 0 ? std::ldexp(mantissa, 1 - bias - 3)
                                 : std::ldexp(8 + mantissa, exponent - bias - 3);
  }
  return values;
}

const std::array<double, 128> &table(Fp8Format format) {
  static const auto fnuz = positiveValues(Fp8Format::E4M3Fnuz);
  static const auto ocp = positiveValues(Fp8Format::E4M3Ocp);
  return format == Fp8Format::E4M3Fnuz ? fnuz : ocp;
}

} // namespace

double fp8Value(Fp8Format format, std::uint8_t code) {
  const bool nan = format == Fp8Format::E4M3Fnuz ? code == 0x80 : (code & 0x7f) == 0x7f;
  if (nan)
    return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = table(format)[code & 0x7f];
  return code & 0x80 ? -magnitude : magnitude;
}

std::uint8_t fp8Nearest(Fp8Format format, double value) {
  const auto &values = table(format);
  const int largest = format == Fp8Format::E4M3Fnuz ? 0x7f : 0x7e;
  const double magnitude = std::abs(value);
  int above = 0;
  while (above < largest && values[above] < magnitude)
    ++above;
  int code = above;
  if (above > 0 && values[above] > magnitude) {
    const double up = values[above] - magnitude, down = magnitude - values[above - 1];
    if (down < up || (down == up && above % 2 == 1))
      code = above - 1;
  }
  // The fnuz format has no negative zero: that code is its NaN.
  return static_cast<std::uint8_t>(value < 0 && code != 0 ? code | 0x80 : code);
}

} // namespace wavesmith::testing
