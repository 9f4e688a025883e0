#include "emulator/cycles/CycleModel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "emulator/cycles/ComputeUnit.h"
#include "emulator/cycles/GridReplay.h"

namespace wavesmith::emulator {

std::string_view stallName(Stall stall) {
  constexpr std::array<std::string_view, kStalls> kNames = {
      "arbitration",  "valu-port", "matrix-pipe", "vector-memory", "lds", "scalar-memory",
      "memory-queue", "operand",   "barrier",     "fetch",         "idle"};
  return kNames[static_cast<std::size_t>(stall)];
}

std::uint64_t CycleReport::Line::clocks() const {
  return std::accumulate(stalled.begin(), stalled.end(), issued);
}

namespace cycles {
namespace {

constexpr std::size_t kReplays = 8; ///< workgroups of distinct size
constexpr std::size_t kMaxLoops = 16;

/// What one workgroup costs its compute unit, its neighbours' part taken out.
struct Cost {
  u64 size = 0;      ///< instructions
  double clocks = 0; ///< from its start to its end, beside its neighbours
  double mfma = 0, valu = 0, lds = 0, fill = 0, hbm = 0;
};

int roundUp(int value, int granule) { return (value + granule - 1) / granule * granule; }

Cost between(const Cost &a, const Cost &b, u64 size) {
  double t = a.size == b.size ? 0
                              : (static_cast<double>(size) - static_cast<double>(a.size)) /
                                    (static_cast<double>(b.size) - static_cast<double>(a.size));
  auto mix = [t](double x, double y) { return std::max(0.0, x + t * (y - x)); };
  return {size,
          mix(a.clocks, b.clocks),
          mix(a.mfma, b.mfma),
          mix(a.valu, b.valu),
          mix(a.lds, b.lds),
          mix(a.fill, b.fill),
          mix(a.hbm, b.hbm)};
}

/// The cost of a workgroup of `size` instructions; `known` is sorted by size. Workgroups of one
/// launch differ by their trip counts, so clocks are piecewise linear in instructions.
Cost costOf(const std::vector<Cost> &known, u64 size) {
  if (known.size() == 1 || size < known.front().size) {
    Cost none;
    return between(none, known.front(), size);
  }
  // Two neighbours may be a few instructions apart: no slope to go further with.
  if (size > known.back().size)
    return between(known.front(), known.back(), size);
  std::size_t i = 1;
  while (i + 1 < known.size() && known[i].size < size)
    ++i;
  return between(known[i - 1], known[i], size);
}

/// Sampled workgroups of distinct size, spread over the sizes.
std::vector<const GroupTrace *> chooseReplays(const TraceSampler &sampler) {
  std::map<u64, const GroupTrace *> bySize;
  for (const auto &[index, trace] : sampler.traces())
    bySize.try_emplace(trace->instructions(), trace.get());
  std::vector<const GroupTrace *> all;
  for (const auto &[size, trace] : bySize)
    all.push_back(trace);
  if (all.size() <= kReplays)
    return all;
  std::vector<const GroupTrace *> chosen;
  for (std::size_t k = 0; k < kReplays; ++k)
    chosen.push_back(all[k * (all.size() - 1) / (kReplays - 1)]);
  return chosen;
}

void fillLoops(const UnitReport &unit, const TraceSampler &sampler, CycleReport &report) {
  std::vector<std::pair<double, CycleReport::Loop>> loops;
  for (const auto &[op, loop] : unit.loops) {
    auto n = static_cast<double>(loop.iterations);
    loops.push_back({loop.clocks,
                     {sampler.ops()[op].pc - sampler.entryAddress(), loop.iterations,
                      loop.clocks / n, loop.clocks > 0 ? loop.mfmaBusy / loop.clocks : 0}});
  }
  std::sort(loops.begin(), loops.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second.pc < b.second.pc;
  });
  for (std::size_t i = 0; i < std::min(loops.size(), kMaxLoops); ++i)
    report.loops.push_back(loops[i].second);
}

void fillLines(const UnitReport &unit, const TraceSampler &sampler, CycleReport &report) {
  for (std::size_t i = 0; i < unit.lines.size(); ++i)
    if (unit.lines[i].executed)
      report.lines.push_back({sampler.ops()[i].pc - sampler.entryAddress(), unit.lines[i].executed,
                              unit.lines[i].issued, unit.lines[i].stalled});
  std::sort(report.lines.begin(), report.lines.end(),
            [](const auto &a, const auto &b) { return a.pc < b.pc; });
}

/// What limits the launch: an uneven load when that loses more than the busiest unit leaves idle.
std::string boundBy(const Cost &busy, double cuClocks, double balance) {
  std::pair<double, const char *> units[] = {{busy.mfma / 4 / cuClocks, "mfma"},
                                             {busy.valu / 4 / cuClocks, "valu"},
                                             {busy.lds / 2 / cuClocks, "lds"},
                                             {std::max(busy.fill, busy.hbm) / cuClocks, "memory"}};
  auto best = *std::max_element(std::begin(units), std::end(units),
                                [](const auto &a, const auto &b) { return a.first < b.first; });
  if (balance < best.first)
    return "balance";
  return best.first >= 0.5 ? best.second : "latency";
}

void setClocks(const Chip &chip, const std::array<double, 5> &matrix, CycleReport &report) {
  report.clockMhz = report.sustainedMhz = chip.clockMhz;
  report.dtype = "none";
  auto busiest = std::max_element(matrix.begin(), matrix.end()) - matrix.begin();
  if (matrix[busiest] > 0) {
    constexpr const char *kNames[] = {"none", "bf16", "fp8", "other", "f16"};
    report.dtype = kNames[busiest];
    double full = busiest == 2 ? chip.sustainedFp8Mhz : chip.sustainedBf16Mhz;
    report.sustainedMhz =
        std::min<double>(chip.clockMhz, full * (1 + chip.sustainedSlope * (1 - report.balance)));
  }
  auto cycles = static_cast<double>(report.cycles);
  report.microseconds = cycles / report.clockMhz;
  report.sustainedMicroseconds = cycles / report.sustainedMhz;
}

/// The grid, however it was found.
struct Grid {
  Cost busy; ///< of all workgroups together
  std::array<double, 5> matrix{};
  Placement placement;
};

void add(Cost &sum, const Cost &cost) {
  sum.mfma += cost.mfma;
  sum.valu += cost.valu;
  sum.lds += cost.lds;
  sum.fill += cost.fill;
  sum.hbm += cost.hbm;
}

Cost costOf(const UnitReport &unit, u64 size, double part) {
  return {size,
          unit.clocks,
          unit.mfmaBusy * part,
          unit.valuBusy * part,
          unit.ldsBusy * part,
          unit.fillBusy * part,
          unit.hbmBusy * part};
}

/// From samples: each is replayed beside copies of itself, the others take their cost by size.
Grid compose(const TraceSampler &sampler, const Chip &chip, TraceFile *file, CycleReport &report) {
  Grid grid;
  int residents = report.workgroupsPerCu;
  int activeCus = static_cast<int>(
      std::min<std::size_t>(sampler.sizes().size(), static_cast<std::size_t>(chip.cus())));
  const LineSharing sharing(sampler);
  std::vector<const GroupTrace *> replays = chooseReplays(sampler);
  auto replay = [&](const GroupTrace &trace, int copies, UnitTimeline *timeline,
                    bool cold = false) {
    MemoryPath memory(chip, activeCus, sharing);
    ComputeUnit unit(sampler.ops(), chip, memory, timeline);
    if (cold)
      unit.coolInstructions();
    for (int i = 0; i < copies; ++i)
      unit.add(trace);
    return unit.run();
  };
  /// Alone on a compute unit, first with empty caches, then where it has run before.
  auto replayTwice = [&](const GroupTrace &trace) {
    MemoryPath memory(chip, activeCus, sharing);
    ComputeUnit unit(sampler.ops(), chip, memory);
    unit.add(trace);
    while (unit.nextTurn() != ComputeUnit::kNever)
      unit.step();
    i64 between = unit.now() + 4;
    unit.add(trace, between);
    double both = unit.run().clocks;
    return std::pair(static_cast<double>(between), both - static_cast<double>(between));
  };
  std::vector<Cost> known;
  // The largest first: it gets most of a trace file's room.
  std::reverse(replays.begin(), replays.end());
  Pace pace{.clocks = {}, .residents = residents};
  for (const GroupTrace *trace : replays) {
    bool isLargest = trace == replays.front();
    std::optional<UnitTimeline> timeline;
    if (file)
      timeline.emplace(*file, sampler,
                       fmt::format("a compute unit with {} of workgroup {}, {} instructions{}",
                                   residents, trace->index, trace->instructions(),
                                   isLargest ? " (the largest traced)" : ""),
                       isLargest ? file->budget() / 2 : file->budget() / 4 / replays.size());
    UnitReport result = replay(*trace, residents, timeline ? &*timeline : nullptr);
    double scale = trace->scale();
    Cost cost = costOf(result, trace->instructions(), scale / residents);
    cost.clocks *= scale;
    known.push_back(cost);
    for (std::size_t i = 0; i < grid.matrix.size(); ++i)
      grid.matrix[i] += result.matrixByType[i];
    if (!isLargest)
      continue;
    fillLoops(result, sampler, report);
    fillLines(result, sampler, report);
    bool manyRounds = sampler.sizes().size() > static_cast<std::size_t>(chip.cus() * residents);
    double first = result.clocks, second = first;
    if (manyRounds || residents > 1)
      std::tie(first, second) = replayTwice(*trace);
    pace.saving = manyRounds ? std::max(0.0, first - second) : 0;
    double beside = result.clocks - pace.saving;
    if (residents > 1 && beside > 0)
      pace.alone = std::min(1.0, (manyRounds ? second : first) / beside);
    report.coldCycles =
        static_cast<u64>(std::max(0.0, replay(*trace, 1, nullptr, true).clocks - first));
  }
  std::reverse(known.begin(), known.end());
  report.sampledWorkgroups = static_cast<int>(known.size());
  for (u64 size : sampler.sizes()) {
    Cost cost = costOf(known, size);
    pace.clocks.push_back(cost.clocks);
    add(grid.busy, cost);
  }
  grid.placement = place(pace, chip);
  return grid;
}

/// Every workgroup beside its real neighbours.
Grid replayAll(const TraceSampler &sampler, const Chip &chip, TraceFile *file,
               CycleReport &report) {
  const LineSharing sharing(sampler);
  GridReport replayed = replayGrid(sampler, chip, report.workgroupsPerCu, sharing, file);
  Grid grid;
  UnitReport all;
  all.lines.resize(sampler.ops().size());
  for (const UnitReport &unit : replayed.units) {
    add(grid.busy, costOf(unit, 0, 1));
    for (std::size_t i = 0; i < grid.matrix.size(); ++i)
      grid.matrix[i] += unit.matrixByType[i];
    all.add(unit);
  }
  fillLoops(all, sampler, report);
  fillLines(all, sampler, report);
  report.sampledWorkgroups = static_cast<int>(sampler.sizes().size());
  grid.placement = std::move(replayed.placement);
  return grid;
}

} // namespace

int workgroupsPerCu(const Footprint &f, const Architecture &a) {
  int waves = a.waveSlots;
  if (f.vectorRegisters > 0)
    waves = std::min(waves, a.vectorRegisters / roundUp(f.vectorRegisters, 8));
  if (f.scalarRegisters > 0)
    waves = std::min(waves, a.scalarRegisters / roundUp(f.scalarRegisters, 16));
  int groups = 4 * waves / std::max(1, f.waves);
  if (f.ldsBytes > 0)
    groups = std::min(groups, a.ldsBytes / roundUp(f.ldsBytes, a.ldsGranule));
  return std::max(1, groups);
}

CycleReport modelLaunch(const TraceSampler &sampler, const Chip &chip, const Footprint &footprint,
                        TraceFile *file) {
  CycleReport report;
  report.chip = chip.name;
  if (sampler.traces().empty())
    return report;
  auto groups = static_cast<int>(std::min<std::size_t>(sampler.sizes().size(), 1 << 30));
  report.workgroupsPerCu = std::min(workgroupsPerCu(footprint, *chip.architecture),
                                    (groups + chip.cus() - 1) / chip.cus());
  Grid grid = sampler.tracesAll() ? replayAll(sampler, chip, file, report)
                                  : compose(sampler, chip, file, report);
  const Cost &busy = grid.busy;
  for (const Placed &placed : grid.placement.groups)
    report.longestWorkgroup =
        std::max(report.longestWorkgroup, static_cast<u64>(placed.until - placed.from));
  double cuClocks = std::max(1.0, grid.placement.used);
  double all = std::max(1.0, grid.placement.makespan * chip.cus());
  report.cycles = static_cast<u64>(grid.placement.makespan);
  report.balance = cuClocks / all;
  report.mfmaUtilisation = busy.mfma / 4 / all;
  report.valuUtilisation = busy.valu / 4 / all;
  report.ldsUtilisation = busy.lds / 2 / all;
  report.memoryUtilisation = std::max(busy.fill, busy.hbm) / all;
  report.boundBy = boundBy(busy, cuClocks, report.balance);
  setClocks(chip, grid.matrix, report);
  if (file)
    writeGrid(*file, chip, sampler, std::move(grid.placement.groups));
  return report;
}

} // namespace cycles
} // namespace wavesmith::emulator
