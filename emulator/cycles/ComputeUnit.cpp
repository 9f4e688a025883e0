// The turn loop: who may issue when.

#include "emulator/cycles/ComputeUnit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wavesmith::emulator::cycles {
namespace {

constexpr i64 kNever = std::numeric_limits<i64>::max() / 2;
constexpr i64 kTurn = 4;
constexpr std::size_t kVectorCounter = 63, kLdsCounter = 15;
constexpr int kTrackedRegisters = 512;

} // namespace

ComputeUnit::ComputeUnit(const std::vector<OpInfo> &ops, const Chip &chip, MemoryPath &memory)
    : ops_(ops), a_(*chip.architecture), memory_(memory) {
  report_.lines.resize(ops.size());
}

void ComputeUnit::add(const GroupTrace &trace) {
  Group group;
  group.trace = &trace;
  group.alive = static_cast<int>(trace.waves.size());
  group.single = trace.waves.size() == 1;
  for (const WaveTrace &waveTrace : trace.waves) {
    SimWave &wave = waves_.emplace_back();
    wave.trace = &waveTrace;
    wave.group = static_cast<int>(groups_.size());
    wave.simd = nextSimd_;
    wave.operandReady.assign(kTrackedRegisters, 0);
    simds_[nextSimd_].waves.push_back(&wave);
    nextSimd_ = (nextSimd_ + 1) % 4;
    if (waveTrace.steps.empty()) {
      wave.ended = true;
      --group.alive;
    }
  }
  groups_.push_back(group);
}

i64 ComputeUnit::operandsReady(SimWave &wave, const OpInfo &op, i64 now) {
  i64 at = now;
  for (int i = 0; i < op.readCount; ++i)
    for (int j = 0; j < op.reads[i].count; ++j)
      at = std::max(at, wave.operandReady[(op.reads[i].first + j) % kTrackedRegisters]);
  if (at > now)
    wave.reason = Stall::Operand;
  return at;
}

i64 ComputeUnit::vectorReady(const Simd &simd, SimWave &wave, const OpInfo &op, i64 now) {
  if (simd.portFree > now) {
    wave.reason = Stall::ValuPort;
    return simd.portFree;
  }
  i64 at = now;
  if (op.kind == Kind::Matrix) {
    at = std::max(at, simd.pipeFree);
    if (op.accumulator == wave.accumulator)
      at = std::max(at, wave.accumulatorReady);
    if (simd.lastPacked == &wave)
      at = std::max(at, simd.packedEnd + a_.packedBubbleClk);
  } else if (op.kind == Kind::PackedF32) {
    // It waits for the pipe to drain, its own wave's instruction with a bubble.
    bool own = simd.lastMatrix == &wave;
    at = std::max(at, simd.pipeFree + (own ? a_.packedBubbleClk : 0));
  }
  if (at > now)
    wave.reason = Stall::MatrixPipe;
  return at;
}

i64 ComputeUnit::waitReady(SimWave &wave, const OpInfo &op, i64 now) {
  auto imm = op.immediate;
  std::size_t vector = (imm & 15u) | ((imm >> 14) & 3u) << 4, lds = (imm >> 8) & 15u;
  i64 at = now;
  auto drop = [now](std::deque<i64> &pending) {
    while (!pending.empty() && pending.front() <= now)
      pending.pop_front();
  };
  drop(wave.vectorPending);
  drop(wave.ldsPending);
  std::erase_if(wave.scalarPending, [now](i64 done) { return done <= now; });
  if (wave.vectorPending.size() > vector) {
    at = wave.vectorPending[wave.vectorPending.size() - 1 - vector];
    wave.reason = Stall::VectorMemory;
  }
  if (wave.ldsPending.size() + wave.scalarPending.size() > lds) {
    std::vector<i64> all(wave.ldsPending.begin(), wave.ldsPending.end());
    all.insert(all.end(), wave.scalarPending.begin(), wave.scalarPending.end());
    std::sort(all.begin(), all.end());
    i64 done = all[all.size() - 1 - lds];
    if (done > at) {
      at = done;
      wave.reason = wave.scalarPending.empty() ? Stall::Lds : Stall::ScalarMemory;
    }
  }
  return at;
}

i64 ComputeUnit::ready(SimWave &wave, const OpInfo &op, i64 now) {
  switch (op.category) {
  case Category::Vector:
    return vectorReady(simds_[wave.simd], wave, op, now);
  case Category::Lds: {
    i64 at = operandsReady(wave, op, now);
    if (at > now)
      return at;
    Pair &pair = pairs_[wave.simd / 2];
    while (!pair.starts.empty() && pair.starts.front() <= static_cast<double>(now))
      pair.starts.pop_front();
    while (!wave.ldsPending.empty() && wave.ldsPending.front() <= now)
      wave.ldsPending.pop_front();
    wave.reason = Stall::Queue;
    if (static_cast<int>(pair.starts.size()) >= a_.ldsQueue)
      return static_cast<i64>(std::ceil(pair.starts.front()));
    return wave.ldsPending.size() >= kLdsCounter ? wave.ldsPending.front() : now;
  }
  case Category::VectorMemory: {
    i64 at = operandsReady(wave, op, now);
    if (at > now)
      return at;
    while (!wave.vectorPending.empty() && wave.vectorPending.front() <= now)
      wave.vectorPending.pop_front();
    std::size_t limit = std::min<std::size_t>(kVectorCounter, a_.vectorQueue);
    if (wave.vectorPending.size() < limit)
      return now;
    wave.reason = Stall::Queue;
    return wave.vectorPending.front();
  }
  default:
    if (op.kind == Kind::Wait)
      return waitReady(wave, op, now);
    if (op.kind == Kind::End && !wave.vectorPending.empty() && wave.vectorPending.back() > now) {
      wave.reason = Stall::VectorMemory; // what is in flight completes first
      return wave.vectorPending.back();
    }
    return now;
  }
}

void ComputeUnit::releaseBarrier(Group &group, i64 now) {
  if (group.alive == 0 || group.arrived < group.alive)
    return;
  group.arrived = 0;
  auto index = static_cast<int>(&group - groups_.data());
  for (SimWave &wave : waves_)
    if (wave.group == index && wave.atBarrier) {
      wave.atBarrier = false;
      wave.wake = now + (group.single ? kTurn : a_.barrierClk);
      simds_[wave.simd].wake = std::min(simds_[wave.simd].wake, wave.wake);
    }
}

void ComputeUnit::issueVector(Simd &simd, SimWave &wave, const OpInfo &op, i64 now) {
  simd.portFree = now + op.portClk;
  simd.valuBusy += op.portClk;
  for (int i = 0; i < op.resultCount; ++i)
    wave.operandReady[(op.result + i) % kTrackedRegisters] = now + a_.operandClk;
  if (op.kind == Kind::Matrix) {
    i64 clk = i64{4} * op.passes;
    simd.pipeFree = now + clk;
    simd.mfmaBusy += static_cast<double>(clk);
    simd.lastMatrix = &wave;
    simd.lastPacked = nullptr;
    report_.matrixByType[op.matrixType] += static_cast<double>(clk);
    // Two passes are shorter than the forwarding of the result.
    wave.accumulator = op.result;
    wave.accumulatorReady = now + std::max<i64>(clk, 16);
  } else if (op.kind == Kind::PackedF32) {
    simd.lastPacked = &wave;
    simd.lastMatrix = nullptr;
    simd.packedEnd = now + op.portClk;
    simd.pipeFree = std::max(simd.pipeFree, simd.packedEnd);
  }
}

void ComputeUnit::issueLds(SimWave &wave, const OpInfo &op, u32 bankClk, i64 now) {
  Pair &pair = pairs_[wave.simd / 2];
  double clk = std::max<double>(op.ldsPortClk, bankClk);
  double excess = clk - op.ldsPortClk;
  double start = std::max(static_cast<double>(now), pair.free);
  pair.free = start + clk;
  pair.busy += clk;
  pair.starts.push_back(start);
  double latency = op.ldsLatency + excess;
  if (excess > 0)
    latency = std::max<double>(latency, a_.ldsConflictLatency);
  auto done = static_cast<i64>(std::ceil(start + latency));
  if (!wave.ldsPending.empty())
    done = std::max(done, wave.ldsPending.back());
  wave.ldsPending.push_back(done);
}

void ComputeUnit::issueMemory(SimWave &wave, const OpInfo &op, u32 access, i64 now) {
  const MemoryLines &range = wave.trace->accesses[access];
  std::span<const u64> lines(wave.trace->lines.data() + range.first, range.count);
  auto salt = static_cast<u64>(wave.group);
  auto clk = static_cast<double>(now);
  double done;
  if (op.kind == Kind::ScalarLoad) {
    wave.scalarPending.push_back(static_cast<i64>(std::ceil(memory_.scalarLoad(clk, lines))));
    return;
  }
  if (op.kind == Kind::Store)
    done = memory_.store(clk, op.portClk, lines, kLanes * op.accessBytes, salt);
  else
    done = memory_.load(clk, op.portClk, lines, salt);
  if (op.kind == Kind::LdsDma) {
    // Its data passes the pair's port like a write.
    Pair &pair = pairs_[wave.simd / 2];
    double port = op.accessBytes * 64.0 / 64.0;
    pair.free = std::max(pair.free, clk) + port;
    pair.busy += port;
  }
  auto at = static_cast<i64>(std::ceil(done));
  if (!wave.vectorPending.empty())
    at = std::max(at, wave.vectorPending.back());
  wave.vectorPending.push_back(at);
  if (op.isFlat)
    wave.ldsPending.push_back(wave.ldsPending.empty() ? at : std::max(at, wave.ldsPending.back()));
}

void ComputeUnit::markLoop(Simd &simd, SimWave &wave, u32 op, i64 now) {
  LoopMark &mark = wave.loops[op];
  // The first iteration starts the clock: what comes before it is no steady state.
  if (++mark.taken == 1) {
    mark.firstClk = static_cast<double>(now);
    mark.firstBusy = simd.mfmaBusy;
  }
  mark.lastClk = static_cast<double>(now);
  mark.lastBusy = simd.mfmaBusy;
}

void ComputeUnit::issue(Simd &simd, SimWave &wave, i64 now) {
  const TraceStep &step = wave.trace->steps[wave.at];
  const OpInfo &op = ops_[step.op];
  UnitReport::Line &line = report_.lines[step.op];
  ++line.executed;
  if (now > wave.notBefore)
    line.stalled[static_cast<int>(wave.reason)] += static_cast<u64>(now - wave.notBefore);
  i64 gap = now - wave.lastIssue;
  wave.lastIssue = now;
  ++wave.at;
  i64 next = now + op.issueClk;
  wave.reason = op.kind == Kind::Nop || op.kind == Kind::Sleep ? Stall::Idle : Stall::Arbitration;

  // A straddling instruction costs a clock that short ones and idle turns give back.
  if (gap >= 2 * kTurn)
    wave.fetchDebt = 0;
  else if (op.size == 4 && wave.fetchDebt > 0)
    --wave.fetchDebt;
  if (op.straddles && ++wave.fetchDebt >= kTurn) {
    wave.fetchDebt -= kTurn;
    next += kTurn;
    wave.reason = Stall::Fetch;
  }
  // s_nop and s_sleep are stalls of their own making.
  if (op.issueClk > kTurn)
    line.stalled[static_cast<int>(Stall::Idle)] += static_cast<u64>(op.issueClk - kTurn);
  wave.notBefore = wave.wake = next;

  switch (op.category) {
  case Category::Vector:
    issueVector(simd, wave, op, now);
    break;
  case Category::Lds:
    issueLds(wave, op, step.data, now);
    break;
  case Category::VectorMemory:
    issueMemory(wave, op, step.data, now);
    break;
  case Category::Scalar:
    if (op.kind == Kind::ScalarLoad)
      issueMemory(wave, op, step.data, now);
    [[fallthrough]];
  case Category::Branch:
    if (op.kind != Kind::ScalarLoad && step.data) {
      wave.wake = now + a_.branchClk;
      wave.reason = Stall::Fetch;
      if (wave.at < wave.trace->steps.size() && current(wave).pc <= op.pc)
        markLoop(simd, wave, step.op, now);
    }
    break;
  case Category::Internal:
    if (op.kind == Kind::SetPriority) {
      wave.priority = op.immediate & 3;
    } else if (op.kind == Kind::Barrier) {
      wave.atBarrier = true;
      wave.wake = kNever;
      wave.reason = Stall::Barrier;
      ++groups_[wave.group].arrived;
      releaseBarrier(groups_[wave.group], now);
    }
  }
  if (op.kind == Kind::End || wave.at >= wave.trace->steps.size()) {
    Group &group = groups_[wave.group];
    if (wave.atBarrier)
      --group.arrived;
    wave.ended = true;
    wave.wake = kNever;
    --group.alive;
    report_.clocks = std::max(report_.clocks, static_cast<double>(now + kTurn));
    releaseBarrier(group, now);
  }
}

bool ComputeUnit::turn(Simd &simd, int, i64 now) {
  bool taken[kCategories] = {};
  bool any = false;
  SimWave *order[16];
  int count = 0;
  for (SimWave *wave : simd.waves)
    if (!wave->ended && wave->wake <= now && count < 16)
      order[count++] = wave;
  // Equal priorities: the least recently issued first.
  std::sort(order, order + count, [](const SimWave *left, const SimWave *right) {
    return left->priority != right->priority ? left->priority > right->priority
                                             : left->lastIssue < right->lastIssue;
  });
  for (int i = 0; i < count; ++i) {
    SimWave &wave = *order[i];
    const OpInfo &op = current(wave);
    auto category = static_cast<int>(op.category);
    if (op.category != Category::Internal && taken[category]) {
      wave.reason = Stall::Arbitration;
      continue;
    }
    i64 at = ready(wave, op, now);
    if (at > now) {
      wave.wake = at;
      continue;
    }
    if (op.category != Category::Internal)
      taken[category] = true;
    issue(simd, wave, now);
    any = true;
  }
  simd.wake = kNever;
  for (SimWave *wave : simd.waves)
    if (!wave->ended)
      simd.wake = std::min(simd.wake, std::max(wave->wake, now + kTurn));
  return any;
}

void ComputeUnit::finish() {
  for (const Simd &simd : simds_) {
    report_.mfmaBusy += simd.mfmaBusy;
    report_.valuBusy += simd.valuBusy;
  }
  for (const Pair &pair : pairs_)
    report_.ldsBusy += pair.busy;
  report_.fillBusy = memory_.fillBusy();
  report_.hbmBusy = memory_.hbmBusy();
  report_.hbmBytes = memory_.hbmBytes();
  for (const SimWave &wave : waves_)
    for (const auto &[op, mark] : wave.loops) {
      if (mark.taken < 3)
        continue;
      UnitReport::Loop &loop = report_.loops[op];
      loop.iterations += mark.taken - 1;
      loop.clocks += mark.lastClk - mark.firstClk;
      loop.mfmaBusy += mark.lastBusy - mark.firstBusy;
    }
}

UnitReport ComputeUnit::run() {
  for (i64 base = 0;;) {
    i64 next = kNever;
    for (int s = 0; s < 4; ++s) {
      Simd &simd = simds_[s];
      i64 now = base + s; // each clock serves one SIMD
      if (!simd.waves.empty() && simd.wake <= now)
        turn(simd, s, now);
    }
    for (int s = 0; s < 4; ++s)
      if (!simds_[s].waves.empty())
        next = std::min(next, simds_[s].wake - s);
    if (next >= kNever - kTurn)
      break;
    base = std::max(base + kTurn, (next + kTurn - 1) / kTurn * kTurn);
  }
  for (const Group &group : groups_)
    report_.stuck |= group.alive > 0;
  finish();
  return std::move(report_);
}

} // namespace wavesmith::emulator::cycles
