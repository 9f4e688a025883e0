#pragma once
// Where the row blocks of a batch are cut over their keys, and in which order the pieces start, so
// that the compute units end together. Part of the work list: nobody else needs it. Pure functions
// of their arguments, any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/dispatch/WorkList.h"

namespace wavesmith {

/// One row block of one head, and where its keys are cut.
struct RowBlock {
  std::int32_t sequence, q0, head;
  std::int64_t first;             ///< of the keys that some of its rows can see
  std::int64_t keys;              ///< their number
  std::vector<std::int64_t> cuts; ///< between its pieces; none: it is whole

  bool split() const { return !cuts.empty(); }
  /// Calls visit(begin, end) for each piece, counted from the first key.
  template <typename Visit> void forPieces(const Visit &visit) const {
    std::int64_t begin = 0;
    for (const std::int64_t cut : cuts)
      visit(std::exchange(begin, cut), cut);
    visit(begin, keys);
  }
};

/// Whole granules, as equal as they come.
void cutEqually(RowBlock &block, std::int64_t pieces);

/// What a unit takes.
inline double unitClocks(std::int64_t keys, bool split, const WorkCosts &costs) {
  return static_cast<double>(keys) * costs.perKey + costs.perUnit + (split ? costs.perPartial : 0);
}
/// What the reducer takes.
inline double mergeClocks(std::int64_t slots, const WorkCosts &costs) {
  return slots > 0 ? costs.combine + costs.perSlot * static_cast<double>(slots) : 0;
}

/// An order of workgroups, as indices, and when the last one ends.
struct UnitOrder {
  std::vector<std::size_t> order;
  double end = 0;
};
/// Of workgroups that take these clocks, falling: each time the largest that ends by `capacity` on
/// the compute unit that it will get (makespan() says which), else the smallest. So pieces that
/// were made to fill a unit together meet there.
UnitOrder fittingOrder(std::span<const double> clocks, const DeviceShape &shape, double capacity);

/// Leaves the blocks, largest first, with the cuts that are estimated to end first. Returns the
/// capacity to order the units by; none: heaviest first.
std::optional<double> searchCuts(std::vector<RowBlock> &blocks, const DeviceShape &shape,
                                 const WorkCosts &costs);

} // namespace wavesmith
