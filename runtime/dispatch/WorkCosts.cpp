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
    {"gfx942", DType::BF16, 192, 128, 82.9, 12.1, 26862},
    {"gfx942", DType::BF16, 128, 128, 66.9, 24.3, 21994},
    {"gfx942", DType::BF16, 64, 64, 44.3, 40.1, 12941},
    {"gfx942", DType::BF16, 256, 256, 130.7, 18.6, 39648},
    {"gfx942", DType::FP8, 192, 128, 43.7, 39.6, 24509},
    {"gfx942", DType::FP8, 128, 128, 38.6, 37.8, 19090},
    {"gfx942", DType::FP8, 64, 64, 32.1, 40.8, 12604},
    {"gfx942", DType::FP8, 256, 256, 65.7, 22.9, 33755},
    {"gfx950", DType::BF16, 192, 128, 41.1, 13.5, 22161},
    {"gfx950", DType::BF16, 128, 128, 33.0, 20.2, 18453},
    {"gfx950", DType::BF16, 64, 64, 26.2, 25.1, 11141},
    {"gfx950", DType::BF16, 256, 256, 65.1, 0.8, 29987},
    {"gfx950", DType::FP8, 192, 128, 21.4, 22.7, 19590},
    {"gfx950", DType::FP8, 128, 128, 19.4, 24.5, 16377},
    {"gfx950", DType::FP8, 64, 64, 19.0, 24.6, 11380},
    {"gfx950", DType::FP8, 256, 256, 32.5, 20.8, 24498},
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
