#include "runtime/dispatch/WorkList.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/dispatch/CutSearch.h"
#include "runtime/spec/KernelFamily.h"

namespace wavesmith {
namespace {

constexpr DeviceShape kMi325x{304, 8};

AttentionProblem problemOf(std::vector<SequenceLength> lengths, bool causal, std::int64_t heads = 1,
                           std::int64_t kvHeads = 0) {
  AttentionProblem problem;
  problem.heads = heads;
  problem.kvHeads = kvHeads ? kvHeads : heads;
  problem.causal = causal;
  problem.lengths = std::move(lengths);
  return problem;
}

WorkCosts costsOf(const AttentionProblem &problem) {
  return workCosts({problem.target, {problem.dtype, problem.headDimQk, problem.headDimV}, ""},
                   kMi325x);
}

WorkList listOf(const AttentionProblem &problem, int splits, DeviceShape shape = kMi325x) {
  std::vector<std::size_t> all(problem.lengths.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return buildWorkList(problem, all, splits, shape, costsOf(problem));
}

TEST(Makespan, SpreadsRoundRobinOverXcdsThenToTheFreeUnit) {
  const std::vector<double> clocks = {5, 1, 1, 1, 1};
  // Two XCDs of one unit: 5 + 1 + 1 on the first.
  EXPECT_EQ(makespan(clocks, {2, 2}), 7);
  // One XCD of two units: the second takes all the short ones.
  EXPECT_EQ(makespan(clocks, {2, 1}), 5);
  EXPECT_EQ(makespan({}, {2, 1}), 0);
  EXPECT_EQ(makespan(clocks, {1, 1}), 9);
}

TEST(DeviceShapes, XcdsFollowFromTheComputeUnits) {
  EXPECT_EQ(deviceShape("gfx942"), (DeviceShape{304, 8}));
  EXPECT_EQ(deviceShape("gfx950"), (DeviceShape{256, 8}));
  EXPECT_EQ(deviceShape("gfx942", 304), (DeviceShape{304, 8}));
  EXPECT_EQ(deviceShape("gfx942", 38), (DeviceShape{38, 1})) << "a CPX partition";
  EXPECT_EQ(deviceShape("gfx942", 80), (DeviceShape{80, 4})) << "MI308X";
  EXPECT_EQ(deviceShape("gfx950", 64), (DeviceShape{64, 2}));
  EXPECT_EQ(deviceShape("gfx942", 7), (DeviceShape{7, 1}));
}

TEST(WorkList, PiecesCoverEachBlocksKeysOnce) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<SequenceLength> lengths(random() % 5);
    for (SequenceLength &length : lengths)
      length = {static_cast<std::int64_t>(random() % 900),
                static_cast<std::int64_t>(random() % 9000)};
    const auto kvHeads = static_cast<std::int64_t>(random() % 3 + 1);
    const std::int64_t heads = kvHeads * static_cast<std::int64_t>(random() % 4 + 1);
    AttentionProblem problem = problemOf(lengths, random() % 2, heads, kvHeads);
    for (std::int64_t *side : {&problem.window.left, &problem.window.right})
      if (random() % 3 == 0)
        *side = static_cast<std::int64_t>(random() % 1500);
    const int splits = static_cast<int>(random() % 10);
    const WorkList list = listOf(problem, splits);

    using Block = std::tuple<std::int32_t, std::int32_t, std::int32_t>;        // qBegin, q0, head
    std::map<Block, std::map<std::int32_t, const AttentionWorkUnit *>> blocks; // by kv0
    std::map<std::int32_t, int> slots;
    for (const AttentionWorkUnit &unit : list.units) {
      const Block block(unit.qBegin, unit.q0, unit.head);
      EXPECT_TRUE(blocks[block].emplace(unit.kv0, &unit).second);
      if (unit.slot >= 0)
        ++slots[unit.slot];
    }
    ASSERT_EQ(static_cast<std::int64_t>(slots.size()), list.slots);
    for (const auto &[slot, count] : slots) {
      EXPECT_LT(slot, list.slots);
      EXPECT_EQ(count, 1);
    }
    std::map<std::pair<std::int32_t, std::int32_t>, CombineUnit> merged; // first row, head
    for (const CombineUnit &unit : list.merges)
      EXPECT_TRUE(merged.emplace(std::pair(unit.firstRow, unit.head), unit).second);
    for (const auto &[key, pieces] : blocks) {
      const AttentionWorkUnit &any = *pieces.begin()->second;
      const SequenceLength length{any.lenQ, any.lenKv};
      const std::int32_t lastRow = std::min(any.q0 + 256, any.lenQ) - 1;
      KeyRange seen{visibleKeys(problem, length, any.q0).begin,
                    visibleKeys(problem, length, lastRow).end};
      if (seen.count() == 0)
        seen = {};
      auto next = static_cast<std::int32_t>(seen.begin);
      std::int32_t index = 0, sinks = 0;
      const auto [qBegin, q0, head] = key;
      const auto split = merged.find({qBegin + q0, head});
      EXPECT_EQ(split != merged.end(), pieces.size() > 1);
      for (const auto &[kv0, unit] : pieces) {
        EXPECT_EQ(kv0, next);
        EXPECT_EQ((kv0 - seen.begin) % kSplitGranularity, 0);
        sinks += unit->sink;
        EXPECT_TRUE(unit->kv1 > kv0 || pieces.size() == 1) << "an empty piece";
        next = unit->kv1;
        if (split != merged.end()) {
          EXPECT_EQ(unit->slot, split->second.slot + index) << "slots in key order";
        } else {
          EXPECT_EQ(unit->slot, -1);
        }
        ++index;
      }
      EXPECT_EQ(next, seen.end);
      EXPECT_EQ(sinks, 1);
      EXPECT_LE(pieces.size(), static_cast<std::size_t>(splits ? splits : kMaxSplits));
      if (split != merged.end()) {
        EXPECT_EQ(static_cast<std::size_t>(split->second.slots), pieces.size());
        EXPECT_EQ(split->second.rows, lastRow - any.q0 + 1);
      }
    }
    for (std::size_t i = 1; splits > 0 && i < list.units.size(); ++i)
      EXPECT_LE(list.units[i].kv1 - list.units[i].kv0,
                list.units[i - 1].kv1 - list.units[i - 1].kv0)
          << "heaviest first";
  }
}

TEST(FittingOrder, PiecesThatFillAUnitMeetThere) {
  // Two XCDs of two units. Heaviest first, the second 50 would follow a 60.
  const std::vector<double> clocks = {70, 60, 60, 50, 50, 40, 40, 30};
  const DeviceShape shape{4, 2};
  const UnitOrder fitting = fittingOrder(clocks, shape, 100);
  EXPECT_EQ(fitting.end, 100);
  EXPECT_GT(makespan(clocks, shape), 100);
  std::vector<double> placed;
  for (const std::size_t i : fitting.order)
    placed.push_back(clocks[i]);
  EXPECT_EQ(makespan(placed, shape), fitting.end);
}

TEST(FittingOrder, PlacesEachOnceWhateverTheCapacity) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> clocks(random() % 60);
    for (double &unit : clocks)
      unit = static_cast<double>(random() % 8);
    std::ranges::sort(clocks, std::greater());
    const DeviceShape shape{static_cast<int>(random() % 20) + 8,
                            static_cast<int>(random() % 8) + 1};
    const UnitOrder fitting = fittingOrder(clocks, shape, static_cast<double>(random() % 30));
    std::vector<std::size_t> sorted = fitting.order;
    std::ranges::sort(sorted);
    std::vector<double> placed;
    for (const std::size_t i : fitting.order)
      placed.push_back(clocks[i]);
    EXPECT_EQ(makespan(placed, shape), fitting.end);
    std::vector<std::size_t> all(clocks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(sorted, all);
  }
  EXPECT_TRUE(fittingOrder({}, kMi325x, 1).order.empty());
}

TEST(WorkCosts, EveryKindOfKernelHasItsOwn) {
  std::set<double> keys;
  std::size_t kinds = 0;
  for (const Target &target : knownTargets())
    for (const HeadDims &dims : headDims())
      for (const DType dtype : {DType::BF16, DType::FP8}) {
        ++kinds;
        keys.insert(workCosts({target.name, {dtype, dims.qk, dims.v}, ""}, kMi325x).perUnit);
      }
  EXPECT_EQ(keys.size(), kinds);
}

TEST(WorkCosts, F16CostsWhatBf16Does) {
  for (const Target &target : knownTargets())
    for (const HeadDims &dims : headDims()) {
      const auto perKey = [&](DType dtype) {
        return workCosts({target.name, {dtype, dims.qk, dims.v}, ""}, kMi325x).perKey;
      };
      EXPECT_EQ(perKey(DType::F16), perKey(DType::BF16));
    }
}

TEST(WorkCosts, ASoftCapKeepsTheVectorAluBusy) {
  for (const char *target : {"gfx942", "gfx950"})
    for (const DType dtype : {DType::BF16, DType::FP8}) {
      KernelSpec spec{target, {dtype, 64, 64}, ""};
      const double plain = workCosts(spec, kMi325x).perKey;
      spec.attention.softCap = true;
      EXPECT_GT(workCosts(spec, kMi325x).perKey, 1.5 * plain);
    }
}

TEST(WorkList, AutomaticSplitsFillTheChip) {
  for (const bool causal : {false, true}) {
    const AttentionProblem problem = problemOf({{4096, 65536}}, causal, 12);
    const WorkList whole = listOf(problem, 1), split = listOf(problem, 0);
    // 192 units on 304 compute units leave a third of the chip idle.
    EXPECT_EQ(whole.units.size(), 192u);
    EXPECT_EQ(whole.slots, 0);
    EXPECT_GT(split.slots, 0);
    double floor = 0;
    for (const AttentionWorkUnit &unit : split.units)
      floor += (unit.kv1 - unit.kv0) * costsOf(problem).perKey / kMi325x.computeUnits;
    EXPECT_LT(split.clocks, 1.1 * floor);
    EXPECT_GT(whole.clocks, 1.5 * floor);
  }
}

TEST(WorkList, ComputeUnitsEndTogether) {
  // The share of the chip's time that is neither a unit's nor the merge's.
  for (const DType dtype : {DType::BF16, DType::FP8})
    for (const auto &[keys, most] : {std::pair{4096, 0.12}, {65536, 0.02}}) {
      AttentionProblem problem = problemOf({{4096, keys}}, true, 12);
      problem.dtype = dtype;
      const WorkCosts costs = costsOf(problem);
      const WorkList list = listOf(problem, 0);
      double work = 0;
      for (const AttentionWorkUnit &unit : list.units)
        work += (unit.kv1 - unit.kv0) * costs.perKey + costs.perUnit +
                (unit.slot >= 0 ? costs.perPartial : 0);
      const double merge = costs.combine + costs.perSlot * static_cast<double>(list.slots);
      const double end = list.clocks - merge;
      EXPECT_LT(1 - work / kMi325x.computeUnits / end, most) << dtypeName(dtype) << " " << keys;
    }
}

TEST(WorkList, DoesNotSplitWhatFillsTheChipAlready) {
  EXPECT_EQ(listOf(problemOf({{16384, 16384}}, true, 128), 0).slots, 0);
  EXPECT_EQ(listOf(problemOf({{256 * 38, 8192}}, false, 8), 0).slots, 0) << "one full round";
  EXPECT_EQ(listOf(problemOf({{64, 64}}, true, 8), 0).slots, 0) << "too short to be worth a merge";
}

TEST(WorkList, NeverSlowerThanWithoutSplits) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<SequenceLength> lengths(random() % 8 + 1);
    for (SequenceLength &length : lengths)
      length = {static_cast<std::int64_t>(random() % 5000),
                static_cast<std::int64_t>(random() % 20000)};
    const AttentionProblem problem =
        problemOf(lengths, random() % 2, static_cast<std::int64_t>(random() % 16 + 1));
    EXPECT_LE(listOf(problem, 0).clocks, listOf(problem, 1).clocks * (1 + 1e-12));
  }
}

TEST(WorkList, KeyHeadsStayOnTheirXcd) {
  const WorkList list = listOf(problemOf({{2048, 2048}}, false, 64, 8), 1);
  for (std::size_t i = 0; i < list.units.size(); ++i)
    EXPECT_EQ(list.units[i].kvHead, static_cast<std::int32_t>(i % 8));
}

TEST(WorkList, PinnedSplitsLeaveASequenceAlone) {
  // The same sequence among others is cut at the same keys.
  const auto cuts = [](const WorkList &list, std::int32_t lenKv) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::int32_t> result;
    for (const AttentionWorkUnit &unit : list.units)
      if (unit.lenKv == lenKv)
        result[{unit.head, unit.q0, unit.kv0}] = unit.kv1;
    return result;
  };
  const auto alone = cuts(listOf(problemOf({{700, 5000}}, true, 2), 4), 5000);
  const auto among = cuts(listOf(problemOf({{9, 100}, {700, 5000}, {4096, 80}}, true, 2), 4), 5000);
  EXPECT_EQ(alone, among);
  EXPECT_EQ(alone.size(), 2u * 3 * 4);
}

TEST(Plan, RefusesSplitsOutOfRange) {
  for (const int splits : {-1, kMaxSplits + 1})
    EXPECT_EQ(planAttention(problemOf({{1, 1}}, false), {.splits = splits}).status().code(),
              StatusCode::InvalidArgument);
  for (const DeviceShape shape : {DeviceShape{0, 8}, DeviceShape{8, 0}, DeviceShape{1, 8}})
    EXPECT_EQ(planAttention(problemOf({{512, 512}}, false, 2), {.device = shape}).status().code(),
              StatusCode::InvalidArgument);
}

} // namespace
} // namespace wavesmith
