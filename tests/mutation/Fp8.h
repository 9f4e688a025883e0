#pragma once
// The two 8-bit formats (4 exponent bits, 3 mantissa bits) as tables of values, written from their
// definition and apart from the emulator's conversions. Pure functions.

#include <cstdint>

#include "runtime/spec/KernelSpec.h"

namespace wavesmith::testing {

/// NaN where the code is one.
double fp8Value(Fp8Format format, std::uint8_t code);
/// Nearest, ties to the even code; beyond the largest value, the largest.
std::uint8_t fp8Nearest(Fp8Format format, double value);

} // namespace wavesmith::testing
