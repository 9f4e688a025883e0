#include "emulator/machine/Grid.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <numeric>
#include <random>
#include <thread>

#include "emulator/cycles/Trace.h"
#include "emulator/machine/Atomics.h"
#include "emulator/machine/Handlers.h"

namespace wavesmith::emulator {
namespace {

/// A workgroup that waits for none is done within its first turn more often than not, and its
/// machine is free for the next. Whoever needs longer may be waiting: it gets short turns.
constexpr u64 kFirstTurn = u64{1} << 16, kLaterTurn = u64{1} << 13;
/// Of waves that wait for each other: all that the largest chip holds, as a cooperative launch may
/// need. Their registers cost the host up to 290 KB each, as far as they are used.
constexpr u64 kMaxWaves = 304 * 32;
/// Workgroups that may be ahead of the oldest one that still runs, with their footprints.
constexpr u64 kMaxAhead = 256;
constexpr u64 kMaxShuffled = u64{1} << 24;

const char *verb(MemoryUse use) {
  return use == MemoryUse::Read ? "reads" : use == MemoryUse::Write ? "writes" : "changes";
}

/// Code that is called may hold one too.
bool mayCompareAndSwap(const Program &program) {
  const auto compares = [](const Inst &inst) {
    if (!inst.row)
      return false;
    const Row &row = *inst.row;
    return row.handler == swapPc || row.handler == setPc || row.handler == callRelative ||
           (row.use == Use::Atomic && row.format != Format::Ds &&
            static_cast<AtomicKind>(row.access.atomic) == AtomicKind::CompareSwap);
  };
  return std::any_of(program.instructions().begin(), program.instructions().end(), compares);
}

class GridRun {
public:
  GridRun(const Launch &launch, u64 groups)
      : launch_(launch), groups_(launch.sampleOnly ? launch.sampler->wanted().size() : groups),
        races_(!mayCompareAndSwap(*launch.program)) {
    random_.seed(launch.options->seed);
    if (launch.sampleOnly) {
      order_ = launch.sampler->wanted();
    } else if (preemptive() && groups <= kMaxShuffled) {
      order_.resize(groups);
      std::iota(order_.begin(), order_.end(), u64{0});
      std::shuffle(order_.begin(), order_.end(), random_);
    }
    tracks_ = groups_ > 1 && groups <= ~u32{0} && launch.options->checks.has(CheckKind::Races);
  }

  GridResult run() {
    u64 threads = launch_.options->threads > 0 ? u64(launch_.options->threads)
                                               : std::max(1u, std::thread::hardware_concurrency());
    if (launch_.together && groups_ > 1) {
      runTogether();
      return std::move(result_);
    }
    std::vector<std::thread> workers;
    for (u64 i = 1; i < std::min(threads, groups_); ++i)
      workers.emplace_back([&] { runApart(); });
    runApart();
    for (std::thread &worker : workers)
      worker.join();
    return std::move(result_);
  }

private:
  bool preemptive() const {
    return launch_.options->order.waves == ExecutionOrder::Waves::Preemptive;
  }
  u64 indexAt(u64 place) const { return order_.empty() ? place : order_[place]; }
  std::array<u32, 3> idOf(u64 index) const {
    return {static_cast<u32>(index % launch_.grid[0]),
            static_cast<u32>(index / launch_.grid[0] % launch_.grid[1]),
            static_cast<u32>(index / launch_.grid[0] / launch_.grid[1])};
  }

  // Side by side.

  void runApart() {
    Machine machine(launch_);
    for (;;) {
      u64 place = next_.fetch_add(1);
      if (place >= groups_)
        break;
      std::unique_ptr<GroupLog> log;
      if (tracks_)
        log = takeLog(place);
      machine.start(idOf(indexAt(place)), log.get(), nullptr);
      while (!machine.advance(~u64{0} >> 1))
        ;
      GroupFaults faults = machine.finish();
      std::lock_guard lock(mutex_);
      keep(indexAt(place), std::move(faults));
      if (log)
        mergeInOrder(place, std::move(log));
    }
    std::lock_guard lock(mutex_);
    count(machine);
  }

  std::unique_ptr<GroupLog> takeLog(u64 place) {
    std::unique_lock lock(mutex_);
    merged_.wait(lock, [&] { return place < mergedPlaces_ + kMaxAhead; });
    std::unique_ptr<GroupLog> log;
    if (spare_.empty()) {
      log = std::make_unique<GroupLog>();
    } else {
      log = std::move(spare_.back());
      spare_.pop_back();
    }
    log->reset(static_cast<u32>(place));
    return log;
  }

  /// What conflicts with what must not depend on which thread was faster.
  void mergeInOrder(u64 place, std::unique_ptr<GroupLog> log) {
    waiting_[place] = std::move(log);
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == mergedPlaces_;
         first = waiting_.begin()) {
      races_.merge(*first->second);
      reportConflicts(*first->second);
      spare_.push_back(std::move(first->second));
      waiting_.erase(first);
      ++mergedPlaces_;
    }
    merged_.notify_all();
  }

  // In turns.

  struct Resident {
    std::unique_ptr<Machine> machine;
    std::unique_ptr<GroupLog> log;
    u64 place = 0;
  };

  void runTogether() {
    std::vector<Resident> residents;
    std::vector<std::unique_ptr<Machine>> idle;
    const u64 waves = (u64{launch_.block[0]} * launch_.block[1] * launch_.block[2] + kLanes - 1) /
                      kLanes,
              most = std::max<u64>(1, kMaxWaves / waves);
    u64 place = 0;
    std::size_t turn = 0;
    while (place < groups_ || !residents.empty()) {
      const bool begin = place < groups_ && residents.size() < most &&
                         (!preemptive() || residents.empty() || random_() % 2 == 0);
      if (begin) {
        turn = residents.size();
        residents.push_back(admit(place++, idle));
      } else {
        turn = preemptive() ? random_() % residents.size() : turn % residents.size();
      }
      Resident &resident = residents[turn];
      u64 length = preemptive() ? 1 + random_() % kLaterTurn : begin ? kFirstTurn : kLaterTurn;
      bool ended = resident.machine->advance(length);
      if (resident.log) {
        races_.merge(*resident.log);
        reportConflicts(*resident.log);
      }
      ++turn;
      if (!ended)
        continue;
      --turn;
      keep(indexAt(resident.place), resident.machine->finish());
      idle.push_back(std::move(resident.machine));
      residents.erase(residents.begin() + static_cast<std::ptrdiff_t>(turn));
    }
    for (const auto &machine : idle)
      count(*machine);
  }

  Resident admit(u64 place, std::vector<std::unique_ptr<Machine>> &idle) {
    Resident resident;
    resident.place = place;
    if (idle.empty()) {
      resident.machine = std::make_unique<Machine>(launch_);
    } else {
      resident.machine = std::move(idle.back());
      idle.pop_back();
    }
    if (tracks_) {
      resident.log = std::make_unique<GroupLog>();
      resident.log->reset(static_cast<u32>(place));
    }
    resident.machine->start(idOf(indexAt(place)), resident.log.get(), &races_);
    return resident;
  }

  // Results; with the mutex held where there are threads.

  void keep(u64 index, GroupFaults faults) {
    for (int i = 0; i < kCheckKinds; ++i)
      result_.counts[i] += faults.counts[i];
    for (Fault &fault : faults.kept)
      result_.faults[index].push_back(std::move(fault));
    if (!faults.warnings.empty())
      result_.warnings[index] = std::move(faults.warnings);
    trim(result_.faults);
    trim(result_.warnings);
  }

  /// Of the entries, none of which is empty, the first ones are shown: the rest need no memory.
  void trim(std::map<u64, std::vector<Fault>> &all) const {
    while (all.size() > static_cast<std::size_t>(launch_.options->maxFaults))
      all.erase(std::prev(all.end()));
  }

  void count(const Machine &machine) {
    result_.instructions += machine.instructions();
    if (result_.coverage.size() < machine.coverage().size())
      result_.coverage.resize(machine.coverage().size());
    for (std::size_t i = 0; i < machine.coverage().size(); ++i)
      result_.coverage[i] += machine.coverage()[i];
  }

  void reportConflicts(GroupLog &log) {
    const u64 index = indexAt(log.group);
    for (; log.reported < log.conflicts.size(); ++log.reported) {
      const GlobalConflict &conflict = log.conflicts[log.reported];
      ++result_.counts[static_cast<int>(CheckKind::Races)];
      std::vector<Fault> &faults = result_.faults[index];
      if (faults.size() >= static_cast<std::size_t>(launch_.options->maxFaults))
        continue;
      const Inst &inst = launch_.program->numbered(Access32::number(conflict.by));
      const Inst &earlier = launch_.program->numbered(Access32::number(conflict.earlierBy));
      const std::array<u32, 3> other = idOf(indexAt(conflict.earlierGroup));
      faults.push_back(makeFault(
          launch_, CheckKind::Races, inst, idOf(index), Access32::wave(conflict.by),
          Access32::lane(conflict.by),
          fmt::format("{} memory at {:#x}, which workgroup {},{},{} wave {} {} by {} at {}; no "
                      "atomic orders the two",
                      verb(conflict.use), conflict.address, other[0], other[1], other[2],
                      Access32::wave(conflict.earlierBy), verb(conflict.earlierUse),
                      earlier.row ? earlier.row->name : "?", launch_.program->place(earlier))));
    }
    trim(result_.faults);
  }

  const Launch &launch_;
  const u64 groups_;
  std::vector<u64> order_; ///< workgroups by place of start; empty: in their own order
  std::mt19937_64 random_;
  bool tracks_ = false;
  std::atomic<u64> next_{0};
  std::mutex mutex_;
  std::condition_variable merged_;
  u64 mergedPlaces_ = 0;
  std::map<u64, std::unique_ptr<GroupLog>> waiting_; ///< by place
  std::vector<std::unique_ptr<GroupLog>> spare_;
  GlobalRaces races_;
  GridResult result_;
};

} // namespace

GridResult runGrid(const Launch &launch, u64 groups) { return GridRun(launch, groups).run(); }

} // namespace wavesmith::emulator
