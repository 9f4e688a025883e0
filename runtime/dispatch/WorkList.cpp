#include "runtime/dispatch/WorkList.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/dispatch/CutSearch.h"

namespace wavesmith {
namespace {

constexpr std::int64_t kBlock = kAttentionBlockM;

/// Keys that row block [q0, q0 + 256) can see: neither end of what a row sees falls with the row.
KeyRange keysOfBlock(const AttentionProblem &problem, const SequenceLength &length,
                     std::int64_t q0) {
  const std::int64_t last = std::min(q0 + kBlock, length.q) - 1;
  KeyRange keys{visibleKeys(problem, length, q0).begin, visibleKeys(problem, length, last).end};
  return keys.count() > 0 ? keys : KeyRange{};
}

} // namespace

DeviceShape deviceShape(std::string_view target, int computeUnits) {
  const bool cdna4 = target == "gfx950";
  if (computeUnits <= 0)
    computeUnits = cdna4 ? 256 : 304;
  // Active units of an XCD: 32 on MI350X and MI355X; 38 on MI300X and MI325X, 20 on MI308X.
  for (const int perXcd : {cdna4 ? 32 : 38, 20})
    if (computeUnits % perXcd == 0)
      return {computeUnits, computeUnits / perXcd};
  return {computeUnits, 1};
}

WorkList buildWorkList(const AttentionProblem &problem, std::span<const std::size_t> sequences,
                       int splits, const DeviceShape &shape, const WorkCosts &costs) {
  std::vector<RowBlock> blocks;
  std::vector<std::int32_t> qBegin, kvBegin;
  std::int64_t totalQ = 0, totalKv = 0;
  for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
    const SequenceLength &length = problem.lengths[i];
    qBegin.push_back(static_cast<std::int32_t>(totalQ));
    kvBegin.push_back(static_cast<std::int32_t>(totalKv));
    totalQ += length.q;
    totalKv += length.kv;
  }
  for (const std::size_t i : sequences) {
    const SequenceLength &length = problem.lengths[i];
    for (std::int64_t q0 = 0; q0 < length.q; q0 += kBlock)
      for (std::int64_t head = 0; head < problem.heads; ++head) {
        const KeyRange keys = keysOfBlock(problem, length, q0);
        blocks.push_back({static_cast<std::int32_t>(i),
                          static_cast<std::int32_t>(q0),
                          static_cast<std::int32_t>(head),
                          keys.begin,
                          keys.count(),
                          {}});
      }
  }
  std::ranges::sort(blocks, {}, [](const RowBlock &block) {
    return std::tuple(-block.keys, block.sequence, block.q0, block.head);
  });
  std::optional<double> capacity;
  if (splits == 0)
    capacity = searchCuts(blocks, shape, costs);
  else
    for (RowBlock &block : blocks)
      cutEqually(block, splits);

  WorkList list;
  const std::int64_t group = problem.heads / problem.kvHeads;
  for (const RowBlock &block : blocks) {
    const auto sequence = static_cast<std::size_t>(block.sequence);
    const SequenceLength &length = problem.lengths[sequence];
    AttentionWorkUnit unit{};
    unit.qBegin = qBegin[sequence];
    unit.kvBegin = kvBegin[sequence];
    unit.lenQ = static_cast<std::int32_t>(length.q);
    unit.lenKv = static_cast<std::int32_t>(length.kv);
    unit.q0 = block.q0;
    unit.head = block.head;
    unit.kvHead = static_cast<std::int32_t>(block.head / group);
    if (block.split())
      list.merges.push_back(
          {.firstRow = unit.qBegin + unit.q0,
           .rows = static_cast<std::int32_t>(std::min<std::int64_t>(kBlock, length.q - block.q0)),
           .head = unit.head,
           .slot = static_cast<std::int32_t>(list.slots),
           .slots = static_cast<std::int32_t>(block.cuts.size() + 1),
           .reserved = {}});
    block.forPieces([&](std::int64_t begin, std::int64_t end) {
      unit.kv0 = static_cast<std::int32_t>(block.first + begin);
      unit.kv1 = static_cast<std::int32_t>(block.first + end);
      unit.sink = begin == 0; // one piece of the block
      unit.slot = block.split() ? static_cast<std::int32_t>(list.slots++) : -1;
      list.units.push_back(unit);
    });
  }

  // The long ones first, or the last to start would run alone; pieces that fill a compute unit
  // together where they meet. Among equals the key/value heads alternate fastest: with a multiple
  // of the XCDs of them, each stays in the L2 of one XCD. The key is unique, so equal problems give
  // equal lists.
  const auto clocksOf = [&](const AttentionWorkUnit &unit) {
    return unitClocks(unit.kv1 - unit.kv0, unit.slot >= 0, costs);
  };
  std::ranges::sort(list.units, {}, [&](const AttentionWorkUnit &u) {
    return std::tuple(capacity ? -clocksOf(u) : 0.0, u.kv0 - u.kv1, u.slot < 0, u.qBegin, u.q0,
                      u.kv0, u.head % group, u.kvHead);
  });
  std::vector<double> clocks;
  clocks.reserve(list.units.size());
  std::ranges::transform(list.units, std::back_inserter(clocks), clocksOf);
  double end = 0;
  if (capacity) {
    const UnitOrder fitting = fittingOrder(clocks, shape, *capacity);
    end = fitting.end;
    std::vector<AttentionWorkUnit> ordered;
    ordered.reserve(list.units.size());
    for (const std::size_t i : fitting.order)
      ordered.push_back(list.units[i]);
    list.units = std::move(ordered);
  } else {
    end = makespan(clocks, shape);
  }
  list.clocks = end + mergeClocks(list.slots, costs);
  return list;
}

} // namespace wavesmith
