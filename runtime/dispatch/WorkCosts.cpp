// Figures of the cycle model (docs/adr/0009-kv-splits.md says how they were taken). They steer the
// cutting of a batch and nothing else.

#include "runtime/dispatch/WorkList.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace wavesmith {
namespace {

/// A target's compute unit and its share of the memory, in a clock.
struct Rates {
  std::string_view target;
  DType dtype;
  double matrix;    ///< multiply-adds times two; AMD's data sheets of MI300X and MI355X
  double vectorKey; ///< clocks of a key's softmax, 256 rows: what bounds small head dims
  double softCap;   ///< what a soft cap adds to those (docs/score-functions.md)
};
constexpr Rates kRates[] = {
    {"gfx942", DType::BF16, 2048, 50, 40},
    {"gfx942", DType::FP8, 4096, 30, 40},
    {"gfx950", DType::BF16, 4096, 25, 24},
    {"gfx950", DType::FP8, 8192, 18, 24},
};

constexpr double kLoopOccupancy = 0.93; ///< of the matrix pipe, in the main loops
constexpr double kMemoryBytes = 8;      ///< a compute unit's share of the memory's bandwidth
/// A unit reads its queries and first tiles and writes its rows while it computes nothing.
constexpr double kUnitTraffic = 1.25, kUnitClocks = 5000;
constexpr double kCombineClocks = 6000;

} // namespace

WorkCosts workCosts(const KernelSpec &spec, const DeviceShape &shape) {
  const AttentionSpec &a = spec.attention;
  const auto *rates = std::ranges::find_if(
      kRates, [&](const Rates &row) { return row.target == spec.target && row.dtype == a.dtype; });
  if (rates == std::end(kRates))
    rates = kRates;
  constexpr double kRows = kAttentionBlockM;
  const double queries = kRows * a.headDimQk * (a.dtype == DType::FP8 ? 1 : 2);
  const double outputs = kRows * a.headDimV * sizeof(std::uint16_t);
  const double partials = kRows * a.headDimV * sizeof(float);
  WorkCosts costs;
  costs.perKey = std::max(2 * kRows * (a.headDimQk + a.headDimV) / rates->matrix / kLoopOccupancy,
                          rates->vectorKey + (a.softCap ? rates->softCap : 0));
  costs.perUnit = kUnitClocks + kUnitTraffic * (queries + outputs) / kMemoryBytes;
  costs.perPartial = kUnitTraffic * (partials - outputs) / kMemoryBytes;
  costs.perSlot = partials / (kMemoryBytes * shape.computeUnits);
  costs.combine = kCombineClocks;
  return costs;
}

} // namespace wavesmith
