#include "emulator/cycles/GridReplay.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

namespace wavesmith::emulator::cycles {
namespace {

struct Unit {
  MemoryPath memory;
  std::optional<UnitTimeline> timeline;
  ComputeUnit unit;
  std::vector<std::size_t> running; ///< into Placement::groups, by start

  Unit(const TraceSampler &sampler, const Chip &chip, int activeCus, const LineSharing &sharing,
       TraceFile *file)
      : memory(chip, activeCus, sharing),
        timeline(file ? std::make_optional<UnitTimeline>(*file, sampler, "the first compute unit",
                                                         file->budget() / 2)
                      : std::nullopt),
        unit(sampler.ops(), chip, memory, timeline ? &*timeline : nullptr) {}
};

class Xcd {
public:
  Xcd(const TraceSampler &sampler, const Chip &chip, int index, GridReport &report)
      : sampler_(sampler), chip_(chip), index_(index), report_(report),
        next_(static_cast<std::size_t>(index)) {}

  void run(int residents, const LineSharing &sharing, TraceFile *file) {
    int active = static_cast<int>(
        std::min<std::size_t>(sampler_.sizes().size(), static_cast<std::size_t>(chip_.cus())));
    for (int place = 0; place < residents; ++place)
      for (int cu = 0; cu < chip_.cusPerXcd && hasMore(); ++cu) {
        if (place == 0)
          units_.push_back(std::make_unique<Unit>(sampler_, chip_, active, sharing,
                                                  cu == 0 && index_ == 0 ? file : nullptr));
        start(static_cast<std::size_t>(cu), 0);
      }
    for (;;) {
      std::size_t first = 0;
      for (std::size_t i = 1; i < units_.size(); ++i)
        if (units_[i]->unit.nextTurn() < units_[first]->unit.nextTurn())
          first = i;
      if (units_.empty() || units_[first]->unit.nextTurn() == ComputeUnit::kNever)
        break;
      step(first);
    }
    for (auto &unit : units_)
      report_.units.push_back(unit->unit.finish());
  }

private:
  bool hasMore() const { return next_ < sampler_.sizes().size(); }

  void start(std::size_t cu, i64 at) {
    Unit &unit = *units_[cu];
    unit.unit.add(*sampler_.traces().at(next_), at);
    unit.running.push_back(report_.placement.groups.size());
    auto clk = static_cast<double>(at);
    report_.placement.groups.push_back({next_, index_, static_cast<int>(cu), 0, clk, clk});
    next_ += static_cast<std::size_t>(chip_.xcds);
  }

  void step(std::size_t cu) {
    Unit &unit = *units_[cu];
    unit.unit.step();
    for (int group : unit.unit.ended()) {
      Placed &placed = report_.placement.groups[unit.running[static_cast<std::size_t>(group)]];
      placed.until = static_cast<double>(unit.unit.now() + 4);
      report_.placement.makespan = std::max(report_.placement.makespan, placed.until);
      if (hasMore())
        start(cu, unit.unit.now() + 4);
    }
  }

  const TraceSampler &sampler_;
  const Chip &chip_;
  int index_;
  GridReport &report_;
  std::size_t next_;
  std::vector<std::unique_ptr<Unit>> units_;
};

/// Clocks with at least one workgroup, over all compute units.
double usedClocks(std::vector<Placed> groups) {
  std::sort(groups.begin(), groups.end(), [](const Placed &a, const Placed &b) {
    return std::tie(a.xcd, a.cu, a.from) < std::tie(b.xcd, b.cu, b.from);
  });
  double used = 0, covered = 0;
  int xcd = -1, cu = -1;
  for (const Placed &group : groups) {
    if (group.xcd != xcd || group.cu != cu) {
      covered = 0;
      xcd = group.xcd;
      cu = group.cu;
    }
    used += std::max(0.0, group.until - std::max(group.from, covered));
    covered = std::max(covered, group.until);
  }
  return used;
}

} // namespace

GridReport replayGrid(const TraceSampler &sampler, const Chip &chip, int residents,
                      const LineSharing &sharing, TraceFile *file) {
  GridReport report;
  for (int xcd = 0; xcd < chip.xcds; ++xcd)
    Xcd(sampler, chip, xcd, report).run(residents, sharing, file);
  report.placement.used = usedClocks(report.placement.groups);
  return report;
}

} // namespace wavesmith::emulator::cycles
