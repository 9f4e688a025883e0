#pragma once
// Replays the traces of the workgroups on one compute unit, turn by turn: four SIMDs, their ports,
// the LDS of each SIMD pair, memory, waits and barriers. One simulation, one thread.

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "emulator/cycles/CycleReport.h"
#include "emulator/cycles/MemoryPath.h"
#include "emulator/cycles/Trace.h"

namespace wavesmith::emulator::cycles {

/// What happened on the compute unit.
struct UnitReport {
  double clocks = 0;                 ///< until the last wave ended
  double mfmaBusy = 0, valuBusy = 0; ///< sums over the SIMDs
  double ldsBusy = 0;                ///< sum over the pairs
  double fillBusy = 0, hbmBusy = 0, hbmBytes = 0;
  std::array<double, 4> matrixByType{}; ///< pipe clocks by OpInfo::matrixType
  bool stuck = false;                   ///< the traces ended at a barrier that never opens
  struct Line {
    u64 executed = 0;
    std::array<u64, kStalls> stalled{};
  };
  std::vector<Line> lines; ///< per op
  struct Loop {
    u64 iterations = 0;
    double clocks = 0, mfmaBusy = 0;
  };
  std::map<u32, Loop> loops; ///< by the op of the backward branch
};

class ComputeUnit {
public:
  ComputeUnit(const std::vector<OpInfo> &ops, const Chip &chip, MemoryPath &memory);
  void add(const GroupTrace &trace);
  UnitReport run();

private:
  struct LoopMark {
    u64 taken = 0;
    double firstClk = 0, firstBusy = 0, lastClk = 0, lastBusy = 0;
  };
  struct SimWave {
    const WaveTrace *trace = nullptr;
    std::size_t at = 0;
    int simd = 0, group = 0;
    i64 wake = 0, lastIssue = -4, notBefore = 0;
    int priority = 0;
    int fetchDebt = 0;
    bool ended = false, atBarrier = false;
    Stall reason = Stall::Fetch;
    std::deque<i64> vectorPending, ldsPending; ///< completions, in order
    std::vector<i64> scalarPending;
    std::vector<i64> operandReady; ///< per vector register
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
    bool single = false;
  };
  struct Pair {
    double free = 0, busy = 0;
    std::deque<double> starts;
  };

  const OpInfo &current(const SimWave &wave) const { return ops_[wave.trace->steps[wave.at].op]; }
  /// The first clock at which the wave's next instruction can issue; `now` when it can already.
  i64 ready(SimWave &wave, const OpInfo &op, i64 now);
  i64 vectorReady(const Simd &simd, SimWave &wave, const OpInfo &op, i64 now);
  i64 waitReady(SimWave &wave, const OpInfo &op, i64 now);
  i64 operandsReady(SimWave &wave, const OpInfo &op, i64 now);
  bool turn(Simd &simd, int index, i64 now);
  void issue(Simd &simd, SimWave &wave, i64 now);
  void issueVector(Simd &simd, SimWave &wave, const OpInfo &op, i64 now);
  void issueLds(SimWave &wave, const OpInfo &op, u32 bankClk, i64 now);
  void issueMemory(SimWave &wave, const OpInfo &op, u32 access, i64 now);
  void markLoop(Simd &simd, SimWave &wave, u32 op, i64 now);
  void releaseBarrier(Group &group, i64 now);
  void finish();

  const std::vector<OpInfo> &ops_;
  const Architecture &a_;
  MemoryPath &memory_;
  std::deque<SimWave> waves_;
  std::vector<Group> groups_;
  std::array<Simd, 4> simds_;
  std::array<Pair, 2> pairs_;
  int nextSimd_ = 0;
  UnitReport report_;
};

} // namespace wavesmith::emulator::cycles
