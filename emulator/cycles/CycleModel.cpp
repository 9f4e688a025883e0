#include "emulator/cycles/CycleModel.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <unordered_set>

#include "emulator/cycles/ComputeUnit.h"

namespace wavesmith::emulator {

std::string_view stallName(Stall stall) {
  constexpr std::array<std::string_view, kStalls> kNames = {
      "arbitration",  "valu-port", "matrix-pipe", "vector-memory", "lds", "scalar-memory",
      "memory-queue", "operand",   "barrier",     "fetch",         "idle"};
  return kNames[static_cast<std::size_t>(stall)];
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

std::unordered_set<u64> sharedLines(const TraceSampler &sampler) {
  std::unordered_set<u64> seen, shared;
  for (const auto &[index, trace] : sampler.traces()) {
    std::unordered_set<u64> own;
    for (const WaveTrace &wave : trace->waves)
      own.insert(wave.lines.begin(), wave.lines.end());
    for (u64 line : own)
      if (!seen.insert(line).second)
        shared.insert(line);
  }
  return shared;
}

struct Placement {
  double makespan = 0;
  double used = 0; ///< clocks times slots with a workgroup
};

/// Workgroup i goes to XCD i mod n and there to the slot that is free first.
Placement place(const std::vector<double> &durations, const Chip &chip, int slotsPerCu) {
  using Slots = std::priority_queue<double, std::vector<double>, std::greater<>>;
  Placement placement;
  for (int xcd = 0; xcd < chip.xcds; ++xcd) {
    Slots slots;
    for (int i = 0; i < chip.cusPerXcd * slotsPerCu; ++i)
      slots.push(0);
    for (std::size_t i = static_cast<std::size_t>(xcd); i < durations.size();
         i += static_cast<std::size_t>(chip.xcds)) {
      double end = slots.top() + durations[i];
      slots.pop();
      slots.push(end);
      placement.used += durations[i];
      placement.makespan = std::max(placement.makespan, end);
    }
  }
  return placement;
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
                              unit.lines[i].stalled});
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

void setClocks(const Chip &chip, const std::array<double, 4> &matrix, CycleReport &report) {
  report.clockMhz = report.sustainedMhz = chip.clockMhz;
  report.dtype = "none";
  auto busiest = std::max_element(matrix.begin(), matrix.end()) - matrix.begin();
  if (matrix[busiest] > 0) {
    report.dtype = busiest == 1 ? "bf16" : busiest == 2 ? "fp8" : "other";
    double full = busiest == 2 ? chip.sustainedFp8Mhz : chip.sustainedBf16Mhz;
    report.sustainedMhz =
        std::min<double>(chip.clockMhz, full * (1 + chip.sustainedSlope * (1 - report.balance)));
  }
  auto cycles = static_cast<double>(report.cycles);
  report.microseconds = cycles / report.clockMhz;
  report.sustainedMicroseconds = cycles / report.sustainedMhz;
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

CycleReport modelLaunch(const TraceSampler &sampler, const Chip &chip, const Footprint &footprint) {
  CycleReport report;
  report.chip = chip.name;
  auto groups = static_cast<int>(std::min<std::size_t>(sampler.sizes().size(), 1 << 30));
  int residents = std::min(workgroupsPerCu(footprint, *chip.architecture),
                           (groups + chip.cus() - 1) / chip.cus());
  report.workgroupsPerCu = residents;
  std::unordered_set<u64> shared = sharedLines(sampler);
  std::vector<Cost> known;
  std::array<double, 4> matrix{};
  std::vector<const GroupTrace *> replays = chooseReplays(sampler);
  for (const GroupTrace *trace : replays) {
    MemoryPath memory(chip, std::min(groups, chip.cus()), shared);
    ComputeUnit unit(sampler.ops(), chip, memory);
    for (int i = 0; i < residents; ++i)
      unit.add(*trace);
    UnitReport result = unit.run();
    double scale = trace->scale(), part = scale / residents;
    known.push_back({trace->instructions(), result.clocks * scale, result.mfmaBusy * part,
                     result.valuBusy * part, result.ldsBusy * part, result.fillBusy * part,
                     result.hbmBusy * part});
    for (std::size_t i = 0; i < matrix.size(); ++i)
      matrix[i] += result.matrixByType[i];
    if (trace == replays.back()) {
      fillLoops(result, sampler, report);
      fillLines(result, sampler, report);
    }
  }
  if (known.empty())
    return report;
  report.sampledWorkgroups = static_cast<int>(known.size());

  std::vector<double> durations;
  Cost busy;
  for (u64 size : sampler.sizes()) {
    Cost cost = costOf(known, size);
    durations.push_back(cost.clocks);
    busy.mfma += cost.mfma;
    busy.valu += cost.valu;
    busy.lds += cost.lds;
    busy.fill += cost.fill;
    busy.hbm += cost.hbm;
    report.longestWorkgroup = std::max(report.longestWorkgroup, static_cast<u64>(cost.clocks));
  }
  Placement placement = place(durations, chip, residents);
  double cuClocks = std::max(1.0, placement.used / residents);
  double all = std::max(1.0, placement.makespan * chip.cus());
  report.cycles = static_cast<u64>(placement.makespan);
  report.balance = cuClocks / all;
  report.mfmaUtilisation = busy.mfma / 4 / all;
  report.valuUtilisation = busy.valu / 4 / all;
  report.ldsUtilisation = busy.lds / 2 / all;
  report.memoryUtilisation = std::max(busy.fill, busy.hbm) / all;
  report.boundBy = boundBy(busy, cuClocks, report.balance);
  setClocks(chip, matrix, report);
  return report;
}

} // namespace cycles
} // namespace wavesmith::emulator
