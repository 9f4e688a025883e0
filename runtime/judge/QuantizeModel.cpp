#include "runtime/judge/QuantizeModel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/spec/Rotation.h"

namespace wavesmith {

Fp8Model::Fp8Model(const std::string &target) : fnuz_(target == "gfx942") {
  // Sign, four bits of exponent, three of mantissa. fnuz: bias 8, no infinity, NaN is 0x80; OCP:
  // bias 7, no infinity, NaN is 0x7f and 0xff.
  const int bias = fnuz_ ? 8 : 7, codes = fnuz_ ? 128 : 127;
  for (int code = 0; code < codes; ++code) {
    const int exponent = code >> 3, mantissa = code & 7;
    magnitudes_.push_back(exponent == 0 ? std::ldexp(mantissa, 1 - bias - 3)
                                        : std::ldexp(8 + mantissa, exponent - bias - 3));
  }
  largest_ = static_cast<float>(magnitudes_.back());
}

double Fp8Model::decode(std::uint8_t code) const {
  if (fnuz_ && code == 0x80)
    return std::nan("");
  const std::size_t body = code & 0x7f;
  if (body >= magnitudes_.size())
    return std::nan("");
  return code & 0x80 ? -magnitudes_[body] : magnitudes_[body];
}

std::uint8_t Fp8Model::encode(float value) const {
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value))
    return fnuz_ ? 0x80 : 0x7f;
  const double magnitude = std::abs(static_cast<double>(value));
  const auto above = std::ranges::lower_bound(magnitudes_, magnitude);
  auto code = static_cast<std::size_t>(above - magnitudes_.begin());
  if (above == magnitudes_.end()) {
    code = magnitudes_.size() - 1;
  } else if (code > 0 && *above != magnitude) {
    const double down = magnitude - magnitudes_[code - 1], up = *above - magnitude;
    if (down < up || (down == up && code % 2 == 1))
      --code;
  }
  // fnuz has one zero.
  return fnuz_ && code == 0 ? 0 : static_cast<std::uint8_t>(sign | code);
}

void rotateModel(std::span<float> row, std::uint32_t seed, int firstColumn) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (rotationNegates(seed,
                        static_cast<std::uint32_t>(firstColumn) + static_cast<std::uint32_t>(i)))
      row[i] = -row[i];
  for (std::span<float> rest = row; !rest.empty();) {
    const std::size_t size = std::bit_floor(rest.size());
    const std::span<float> block = rest.first(size);
    for (std::size_t distance = 1; distance < size; distance *= 2)
      for (std::size_t i = 0; i < size; ++i)
        if ((i & distance) == 0) {
          const float low = block[i], high = block[i + distance];
          block[i] = low + high;
          block[i + distance] = low - high;
        }
    const float scale = 1.0f / std::sqrt(static_cast<float>(size));
    for (float &value : block)
      value = value * scale + 0.0f;
    rest = rest.subspan(size);
  }
}

} // namespace wavesmith
