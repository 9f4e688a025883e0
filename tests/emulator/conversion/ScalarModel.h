#pragma once
// Float formats one number at a time, by their definition: decoding by powers of two, encoding by
// search among the decoded values. Slow and independent of the emulator. Plain values.

#include <cstdint>
#include <vector>

namespace wavesmith::emulator::model {

enum class Format { F16, Bf16, Fp8Fnuz, Bf8Fnuz, Fp8Ocp, Bf8Ocp, Fp6, Bf6, Fp4 };
enum class Rounding { Nearest, Up, Down, TowardZero }; // as MODE numbers them

int bitsOf(Format format);
bool isNanCode(Format format, std::uint32_t code);
/// NaN for a NaN code.
double decode(Format format, std::uint32_t code);

/// `saturate`: what overflows becomes the largest number.
std::uint32_t encode(Format format, double value, Rounding rounding, bool saturate);

/// Rounds away from zero when what is cut off, in units of the last place, and noise / 2^32
/// together reach one.
std::uint32_t encodeNoisy(Format format, double value, std::uint32_t noise, bool saturate);

/// Numbers of the format, the points halfway between neighbours, and float's neighbours of those;
/// beyond the largest as well; both signs.
std::vector<float> boundaries(Format format);

} // namespace wavesmith::emulator::model
