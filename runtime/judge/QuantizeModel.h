#pragma once
// What the quantisers must compute, bit for bit: e4m3 by searching its 256 values, the rotation as
// the dialect describes it. Shares nothing with the emulator or the compiler but the signs.

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wavesmith {

class Fp8Model {
public:
  /// "gfx942": e4m3 fnuz, largest 240; "gfx950": OCP e4m3, largest 448.
  explicit Fp8Model(const std::string &target);

  float largest() const { return largest_; }
  /// Whether a scaled element counts as saturated: not for what its rounding may have added.
  bool saturates(float scaled) const { return std::abs(scaled) > largest_ * (1 + 0x1p-21f); }
  double decode(std::uint8_t code) const;
  /// To nearest, ties to the even code, saturating; NaN to the NaN without a sign.
  std::uint8_t encode(float value) const;

private:
  bool fnuz_;
  float largest_;
  std::vector<double> magnitudes_; ///< of codes 0, 1, ...: rising
};

/// In place, float32 arithmetic in the order of the index bits; blocks are the powers of two that
/// the size is made of, the largest first. Zeros are positive.
void rotateModel(std::span<float> row, std::uint32_t seed, int firstColumn = 0);

} // namespace wavesmith
