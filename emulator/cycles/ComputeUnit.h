#pragma once
// Replays the traces of the workgroups on one compute unit, turn by turn: four SIMDs, their ports,
// the LDS of each SIMD pair, memory, waits and barriers. One simulation, one thread.

#include <array>
#include <deque>
#include <limits>
#include <map>
#include <vector>

#include "emulator/cycles/CycleReport.h"
#include "emulator/cycles/MemoryPath.h"
#include "emulator/cycles/Timeline.h"
#include "emulator/cycles/Trace.h"

namespace wavesmith::emulator::cycles {

/// What happened on the compute unit.
struct UnitReport {
  double clocks = 0;                 ///< until the last wave ended
  double mfmaBusy = 0, valuBusy = 0; ///< sums over the SIMDs
  double ldsBusy = 0;                ///< sum over the pairs
  double fillBusy = 0, hbmBusy = 0, hbmBytes = 0;
  std::array<double, 5> matrixByType{}; ///< pipe clocks by OpInfo::matrixType
  bool stuck = false;                   ///< the traces ended at a barrier that never opens
  struct Line {
    u64 executed = 0, issued = 0; ///< issued: clocks of the waves' turns
    std::array<u64, kStalls> stalled{};
  };
  std::vector<Line> lines; ///< per op
  struct Loop {
    u64 iterations = 0;
    double clocks = 0, mfmaBusy = 0;
  };
  std::map<u32, Loop> loops; ///< by the op of the backward branch
  /// Adds the lines and loops of another unit that ran the same kernel.
  void add(const UnitReport &other);
};

class ComputeUnit {
public:
  /// `timeline` may be null.
  ComputeUnit(const std::vector<OpInfo> &ops, const Chip &chip, MemoryPath &memory,
              UnitTimeline *timeline = nullptr);
  /// Empties the instruction cache, which starts with the kernel's code in it.
  void coolInstructions();
  /// Its waves start at clock `at`, which must not lie before a turn that was taken.
  void add(const GroupTrace &trace, i64 at = 0);
  /// To the end of all workgroups.
  UnitReport run();

  // The same in steps, for workgroups that start when others end.
  static constexpr i64 kNever = std::numeric_limits<i64>::max() / 2;
  i64 nextTurn() const; ///< kNever: nothing can happen any more
  void step();          ///< that turn, on all SIMDs
  /// Workgroups, counted as they were added, that ended in the last step.
  const std::vector<int> &ended() const { return ended_; }
  i64 now() const { return base_; }
  UnitReport finish();

private:
  struct LoopMark {
    u64 taken = 0;
    double firstClk = 0, firstBusy = 0, lastClk = 0, lastBusy = 0;
  };
  struct SimWave {
    const WaveTrace *trace = nullptr;
    std::size_t at = 0;
    int id = 0, simd = 0, group = 0;
    i64 wake = 0, lastIssue = -4, notBefore = 0;
    int priority = 0;
    int fetchDebt = 0;
    bool ended = false, atBarrier = false;
    Stall reason = Stall::Fetch;
    bool ownStall = false;                     ///< the last instruction pays for it, not the next
    std::deque<i64> vectorPending, ldsPending; ///< completions, in order
    std::vector<i64> scalarPending;
    std::vector<i64> operandReady; ///< per vector register
    u64 fetched = ~u64{0};         ///< line of code that it issues from
    i64 accumulatorReady = 0;      ///< of the last short matrix instruction
    u16 accumulator = 0xffff;
    std::map<u32, LoopMark> loops;
  };
  struct Simd {
    std::vector<SimWave *> waves;
    i64 portFree = 0, pipeFree = 0;
    const SimWave *lastMatrix = nullptr, *lastPacked = nullptr;
    i64 packedEnd = 0;
    double mfmaBusy = 0, valuBusy = 0;
    i64 wake = 0;
  };
  struct Group {
    const GroupTrace *trace = nullptr;
    int alive = 0, arrived = 0;
    i64 firstArrival = 0;
    bool single = false;
  };
  struct Pair {
    double free = 0, busy = 0;
    std::deque<double> starts;
  };

  const OpInfo &current(const SimWave &wave) const { return ops_[wave.trace->steps[wave.at].op]; }
  /// The first clock at which the wave's next instruction can issue; `now` when it can already.
  i64 ready(SimWave &wave, const OpInfo &op, i64 now);
  i64 fetchReady(SimWave &wave, const OpInfo &op, i64 now);
  i64 vectorReady(const Simd &simd, SimWave &wave, const OpInfo &op, i64 now);
  i64 waitReady(SimWave &wave, const OpInfo &op, i64 now);
  i64 operandsReady(SimWave &wave, const OpInfo &op, i64 now);
  void turn(Simd &simd, i64 now);
  /// Books the wave's time since its last turn or booking to the reason in force.
  void book(SimWave &wave, i64 now);
  void issue(Simd &simd, SimWave &wave, i64 now);
  void issueVector(Simd &simd, SimWave &wave, u32 index, i64 now);
  void issueLds(SimWave &wave, const TraceStep &step, i64 now);
  /// A flat access goes through the address unit to the LDS; when it is there.
  double flatInLds(SimWave &wave, u32 index, i64 now);
  void issueMemory(SimWave &wave, const TraceStep &step, i64 now);
  void markLoop(Simd &simd, SimWave &wave, u32 op, i64 now);
  void releaseBarrier(Group &group, i64 now);
  const std::vector<OpInfo> &ops_;
  const Architecture &a_;
  MemoryPath &memory_;
  UnitTimeline *timeline_;
  LineCache instructions_;
  std::map<u64, i64> arriving_; ///< lines of code on their way
  std::deque<SimWave> waves_;
  std::vector<Group> groups_;
  std::array<Simd, 4> simds_;
  std::array<Pair, 2> pairs_;
  int nextSimd_ = 0;
  std::vector<int> ended_;
  i64 base_ = -4; ///< of the last turn
  UnitReport report_;
};

} // namespace wavesmith::emulator::cycles
