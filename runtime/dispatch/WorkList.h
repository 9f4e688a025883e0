#pragma once
// Which workgroup does what: the batch cut into row blocks, long blocks cut over their keys so that
// every compute unit has work, in the order that ends first. Pure functions of their arguments: the
// same problem on the same chip gives the same list. Any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/spec/AttentionAbi.h"
#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith {

/// What of a device decides the cutting.
struct DeviceShape {
  int computeUnits = 0;
  int xcds = 1; ///< workgroup i starts on XCD i mod xcds

  bool operator==(const DeviceShape &) const = default;
};
/// XCDs follow from the compute units, whole chip or partition. 0 units: the chip that the target
/// stands for when there is no device to ask, MI325X or MI355X.
DeviceShape deviceShape(std::string_view target, int computeUnits = 0);

/// Clocks that the parts of a call take: what the search weighs against each other. *Modelled*
/// figures of the cycle model (docs/adr/0016), good to some 10 %; they never change a result
/// beyond the order of a merge.
struct WorkCosts {
  double perKey = 0;     ///< of a block of 256 rows, in a unit's main loop
  double perUnit = 0;    ///< prologue and epilogue of a unit
  double perPartial = 0; ///< a partial's float32 store instead of the 16-bit one
  double perSlot = 0;    ///< the combine kernel, over the whole chip
  double combine = 0;    ///< its fixed share
};
WorkCosts workCosts(const KernelSpec &spec, const DeviceShape &shape);

/// Key ranges of split units start at multiples of this from the first key that the row block sees:
/// every schedule's KV tile divides it.
inline constexpr std::int64_t kSplitGranularity = 128;
/// Pieces of one row block at most.
inline constexpr int kMaxSplits = 64;

struct WorkList {
  std::vector<AttentionWorkUnit> units; ///< in the order in which they start
  std::vector<CombineUnit> merges;      ///< the blocks whose units write partials
  std::int64_t slots = 0;               ///< partials of all of them
  double clocks = 0;                    ///< of the whole call, as the search saw it
};

/// Of the sequences with these indices (rising). `splits` 0: whatever is estimated to end first; 1:
/// none; N: every block with at least two granules into up to N near-equal pieces.
WorkList buildWorkList(const AttentionProblem &problem, std::span<const std::size_t> sequences,
                       int splits, const DeviceShape &shape, const WorkCosts &costs);

/// When the last of these workgroups ends: workgroup i goes to XCD i mod n and there to the compute
/// unit that is free first. Exposed for tests.
double makespan(std::span<const double> clocks, const DeviceShape &shape);

} // namespace wavesmith
