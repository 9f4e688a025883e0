// Figures of the cycle model, fitted by bench/fit_costs.py (docs/adr/0016-pieces-that-fit.md). They
// steer the cutting of a batch and nothing else.

#include "runtime/dispatch/WorkList.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wavesmith {
namespace {

/// f16 has the rates and the tiles of bf16, and its rows.
DType costedAs(DType dtype) { return dtype == DType::F16 ? DType::BF16 : dtype; }

/// Clocks of units of 256 rows, on an MI325X and an MI355X that are full of them.
struct Row {
  std::string_view target;
  DType dtype;
  int headDimQk, headDimV;
  double key;     ///< of the main loop
  double softCap; ///< what a soft cap adds to a key
  double unit;    ///< from a unit's start to its first key and from its last to its end
};
constexpr Row kRows[] = {
    {"gfx942", DType::BF16, 192, 128, 84.2, 13.3, 26988},
    {"gfx942", DType::BF16, 128, 128, 68.2, 27.7, 22120},
    {"gfx942", DType::BF16, 64, 64, 48.6, 40.6, 12913},
    {"gfx942", DType::BF16, 256, 256, 130.7, 18.6, 39610},
    {"gfx942", DType::FP8, 192, 128, 43.7, 39.6, 24457},
    {"gfx942", DType::FP8, 128, 128, 41.3, 35.1, 20484},
    {"gfx942", DType::FP8, 64, 64, 34.5, 38.6, 13581},
    {"gfx942", DType::FP8, 256, 256, 67.9, 21.3, 38263},
    {"gfx950", DType::BF16, 192, 128, 41.1, 13.2, 22121},
    {"gfx950", DType::BF16, 128, 128, 33.1, 20.5, 18371},
    {"gfx950", DType::BF16, 64, 64, 26.5, 24.4, 11101},
    {"gfx950", DType::BF16, 256, 256, 65.2, 0.7, 29903},
    {"gfx950", DType::FP8, 192, 128, 21.4, 23.0, 19491},
    {"gfx950", DType::FP8, 128, 128, 19.0, 25.5, 16305},
    {"gfx950", DType::FP8, 64, 64, 19.2, 23.8, 11269},
    {"gfx950", DType::FP8, 256, 256, 32.5, 20.8, 24406},
};

/// What a partial's float32 rows take more than the output's, of the time that the bytes need.
constexpr double kPartialTraffic = 1.3;
/// The reducer waits for loads more often than for bandwidth where there are few slots.
constexpr double kCombineClocks = 11000;
constexpr double kCombineTraffic = 1.25; ///< slots, and outputs, which are a quarter of two slots
/// A compute unit's share of the memory in a clock: 6 TB/s at 2.1 GHz, 8 TB/s at 2.4 GHz.
double memoryBytes(std::string_view target) { return target == "gfx950" ? 13.0 : 9.4; }

} // namespace

WorkCosts workCosts(const KernelSpec &spec, const DeviceShape &shape) {
  const AttentionSpec &a = spec.attention;
  const auto *row = std::ranges::find_if(kRows, [&](const Row &candidate) {
    return candidate.target == spec.target && candidate.dtype == costedAs(a.dtype) &&
           candidate.headDimQk == a.headDimQk && candidate.headDimV == a.headDimV;
  });
  if (row == std::end(kRows))
    row = kRows;
  const double partial = double{kAttentionBlockM} * a.headDimV * sizeof(float);
  return {.perKey = row->key + (a.softCap ? row->softCap : 0),
          .perUnit = row->unit,
          .perPartial = kPartialTraffic * (partial / 2) / memoryBytes(spec.target),
          .perSlot = kCombineTraffic * partial / (memoryBytes(spec.target) * shape.computeUnits),
          .combine = kCombineClocks};
}

} // namespace wavesmith
