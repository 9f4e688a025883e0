// The turn loop: who may issue when.

#include "emulator/cycles/ComputeUnit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wavesmith::emulator::cycles {
namespace {

constexpr i64 kTurn = 4;
constexpr std::size_t kVectorCounter = 63, kLdsCounter = 15;
constexpr int kTrackedRegisters = 512;
constexpr int kInstructionWays = 8;

u64 lineOf(const OpInfo &op) { return op.pc / 128; }

} // namespace

ComputeUnit::ComputeUnit(const std::vector<OpInfo> &ops, const Chip &chip, MemoryPath &memory,
                         UnitTimeline *timeline)
    : ops_(ops), a_(*chip.architecture), memory_(memory), timeline_(timeline),
      instructions_(a_.instructionBytes / a_.lineBytes, kInstructionWays, false) {
  report_.lines.resize(ops.size());
  for (const OpInfo &op : ops)
    instructions_.touch(lineOf(op));
}

void ComputeUnit::coolInstructions() {
  instructions_ = LineCache(a_.instructionBytes / a_.lineBytes, kInstructionWays, false);
}

i64 ComputeUnit::fetchReady(SimWave &wave, const OpInfo &op, i64 now) {
  u64 line = lineOf(op);
  if (wave.fetched == line)
    return now;
  // A miss brings the line and the one behind it.
  if (!instructions_.touch(line))
    arriving_[line] = now + a_.l2Latency;
  if (auto found = arriving_.find(line); found != arriving_.end()) {
    if (!instructions_.touch(line + 1))
      arriving_[line + 1] = std::max(found->second, now + a_.l2Latency);
    if (found->second > now) {
      wave.reason = Stall::Fetch;
      return found->second;
    }
    arriving_.erase(found);
  }
  wave.fetched = line;
  return now;
}

void ComputeUnit::add(const GroupTrace &trace, i64 at) {
  Group group;
  group.trace = &trace;
  group.alive = static_cast<int>(trace.waves.size());
  group.single = trace.waves.size() == 1;
  for (const WaveTrace &waveTrace : trace.waves) {
    SimWave &wave = waves_.emplace_back();
    wave.trace = &waveTrace;
    wave.id = static_cast<int>(waves_.size()) - 1;
    wave.group = static_cast<int>(groups_.size());
    // In turn, unless one has more room.
    wave.simd = nextSimd_;
    for (int i = 1; i < 4; ++i)
      if (int other = (nextSimd_ + i) % 4;
          simds_[other].waves.size() < simds_[wave.simd].waves.size())
        wave.simd = other;
    nextSimd_ = (wave.simd + 1) % 4;
    wave.operandReady.assign(kTrackedRegisters, 0);
    wave.wake = wave.notBefore = at;
    wave.lastIssue = at - kTurn;
    simds_[wave.simd].waves.push_back(&wave);
    simds_[wave.simd].wake = std::min(simds_[wave.simd].wake, at);
    if (timeline_)
      timeline_->addWave(wave.id, wave.simd, wave.group,
                         static_cast<int>(&waveTrace - trace.waves.data()));
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
  if (i64 at = fetchReady(wave, op, now); at > now)
    return at;
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
  i64 opens = now + (group.single ? kTurn : a_.barrierClk);
  bool any = false;
  for (SimWave &wave : waves_)
    if (wave.group == index && wave.atBarrier) {
      wave.atBarrier = false;
      any = true;
      wave.wake = opens;
      simds_[wave.simd].wake = std::min(simds_[wave.simd].wake, wave.wake);
    }
  if (timeline_ && any)
    timeline_->barrier(index, static_cast<double>(group.firstArrival), static_cast<double>(opens));
}

void ComputeUnit::issueVector(Simd &simd, SimWave &wave, u32 index, i64 now) {
  const OpInfo &op = ops_[index];
  if (timeline_)
    timeline_->vectorPort(wave.simd, index, static_cast<double>(now),
                          static_cast<double>(now + op.portClk));
  simd.portFree = now + op.portClk;
  simd.valuBusy += op.portClk;
  for (int i = 0; i < op.resultCount; ++i)
    wave.operandReady[(op.result + i) % kTrackedRegisters] = now + a_.operandClk;
  if (op.kind == Kind::Matrix) {
    i64 clk = i64{4} * op.passes;
    if (timeline_)
      timeline_->matrixPipe(wave.simd, index, static_cast<double>(now),
                            static_cast<double>(now + clk));
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

void ComputeUnit::issueLds(SimWave &wave, const TraceStep &step, i64 now) {
  const OpInfo &op = ops_[step.op];
  Pair &pair = pairs_[wave.simd / 2];
  double clk = std::max<double>(op.ldsPortClk, step.data);
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
  if (timeline_) {
    timeline_->lds(wave.simd / 2, step.op, start, start + clk);
    timeline_->inFlight(UnitTimeline::Flight::Lds, static_cast<double>(now),
                        static_cast<double>(done));
  }
}

double ComputeUnit::flatInLds(SimWave &wave, u32 index, i64 now) {
  const OpInfo &op = ops_[index];
  Pair &pair = pairs_[wave.simd / 2];
  double port = kLanes * (4.0 + op.accessBytes) / 64;
  double start = std::max(pair.free, static_cast<double>(now + op.portClk));
  pair.free = start + port;
  pair.busy += port;
  if (timeline_)
    timeline_->lds(wave.simd / 2, index, start, start + port);
  return start + a_.ldsLatency128;
}

void ComputeUnit::issueMemory(SimWave &wave, const TraceStep &step, i64 now) {
  const OpInfo &op = ops_[step.op];
  const MemoryLines &range = wave.trace->accesses[step.data];
  const std::vector<u64> &all =
      op.kind == Kind::ScalarLoad ? wave.trace->scalarLines : wave.trace->lines;
  std::span<const u64> lines(all.data() + range.first, range.count);
  auto salt = static_cast<u64>(wave.group);
  auto clk = static_cast<double>(now);
  double done;
  if (op.kind == Kind::ScalarLoad) {
    done = std::ceil(memory_.scalarLoad(clk, lines, salt));
    wave.scalarPending.push_back(static_cast<i64>(done));
    if (timeline_)
      timeline_->inFlight(UnitTimeline::Flight::Scalar, clk, done);
    return;
  }
  if (range.inLds && lines.empty())
    done = flatInLds(wave, step.op, now);
  else if (op.kind == Kind::Atomic)
    done = memory_.atomic(clk, op.portClk, lines, range.serial, salt);
  else if (op.kind == Kind::Store)
    done = memory_.store(clk, op.portClk, lines, kLanes * op.accessBytes, salt);
  else
    done = memory_.load(clk, op.portClk, lines, salt);
  if (op.kind == Kind::LdsDma) {
    // Its data passes the pair's port like a write.
    Pair &pair = pairs_[wave.simd / 2];
    double port = op.accessBytes * 64.0 / 64.0, start = std::max(pair.free, clk);
    pair.free = start + port;
    pair.busy += port;
    if (timeline_)
      timeline_->lds(wave.simd / 2, step.op, start, start + port);
  }
  auto at = static_cast<i64>(std::ceil(done));
  if (!wave.vectorPending.empty())
    at = std::max(at, wave.vectorPending.back());
  wave.vectorPending.push_back(at);
  if (timeline_)
    timeline_->inFlight(op.resultCount == 0 && op.kind != Kind::LdsDma
                            ? UnitTimeline::Flight::Stores
                            : UnitTimeline::Flight::Loads,
                        clk, static_cast<double>(at));
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
  i64 idle = op.kind == Kind::Nop || op.kind == Kind::Sleep ? op.issueClk - kTurn : 0;
  line.stalled[static_cast<int>(Stall::Idle)] += static_cast<u64>(idle);
  line.issued += static_cast<u64>(next - now - idle);
  wave.ownStall = false;
  wave.notBefore = wave.wake = next;
  if (timeline_)
    timeline_->instruction(wave.id, step.op, static_cast<double>(now), static_cast<double>(next));

  switch (op.category) {
  case Category::Vector:
    issueVector(simd, wave, step.op, now);
    break;
  case Category::Lds:
    issueLds(wave, step, now);
    break;
  case Category::VectorMemory:
    issueMemory(wave, step, now);
    break;
  case Category::Scalar:
    if (op.kind == Kind::ScalarLoad)
      issueMemory(wave, step, now);
    [[fallthrough]];
  case Category::Branch:
    if (op.kind != Kind::ScalarLoad && step.data) {
      wave.wake = now + a_.branchClk;
      wave.reason = Stall::Fetch;
      wave.ownStall = true;
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
      wave.ownStall = true;
      if (groups_[wave.group].arrived++ == 0)
        groups_[wave.group].firstArrival = now;
      releaseBarrier(groups_[wave.group], now);
    }
  }
  if (op.kind == Kind::End || wave.at >= wave.trace->steps.size()) {
    Group &group = groups_[wave.group];
    if (wave.atBarrier)
      --group.arrived;
    wave.ended = true;
    wave.wake = kNever;
    if (--group.alive == 0)
      ended_.push_back(wave.group);
    report_.clocks = std::max(report_.clocks, static_cast<double>(now + kTurn));
    releaseBarrier(group, now);
  }
}

void ComputeUnit::book(SimWave &wave, i64 now) {
  if (now <= wave.notBefore)
    return;
  const TraceStep &payer = wave.trace->steps[wave.ownStall ? wave.at - 1 : wave.at];
  report_.lines[payer.op].stalled[static_cast<int>(wave.reason)] +=
      static_cast<u64>(now - wave.notBefore);
  if (timeline_)
    timeline_->stall(wave.id, wave.reason, static_cast<double>(wave.notBefore),
                     static_cast<double>(now));
  wave.notBefore = now;
  wave.ownStall = false;
}

void ComputeUnit::turn(Simd &simd, i64 now) {
  bool taken[kCategories] = {};
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
    book(wave, now);
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
  }
  simd.wake = kNever;
  for (SimWave *wave : simd.waves)
    if (!wave->ended)
      simd.wake = std::min(simd.wake, std::max(wave->wake, now + kTurn));
}

void UnitReport::add(const UnitReport &other) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].executed += other.lines[i].executed;
    lines[i].issued += other.lines[i].issued;
    for (int reason = 0; reason < kStalls; ++reason)
      lines[i].stalled[reason] += other.lines[i].stalled[reason];
  }
  for (const auto &[op, loop] : other.loops) {
    Loop &sum = loops[op];
    sum.iterations += loop.iterations;
    sum.clocks += loop.clocks;
    sum.mfmaBusy += loop.mfmaBusy;
  }
}

UnitReport ComputeUnit::finish() {
  for (const Group &group : groups_)
    report_.stuck |= group.alive > 0;
  if (timeline_)
    timeline_->finish();
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
  return std::move(report_);
}

i64 ComputeUnit::nextTurn() const {
  i64 next = kNever;
  for (int s = 0; s < 4; ++s) // each clock serves one SIMD
    if (!simds_[s].waves.empty())
      next = std::min(next, simds_[s].wake - s);
  if (next >= kNever - kTurn)
    return kNever;
  return std::max(base_ + kTurn, (next + kTurn - 1) / kTurn * kTurn);
}

void ComputeUnit::step() {
  base_ = nextTurn();
  ended_.clear();
  for (int s = 0; s < 4; ++s)
    if (Simd &simd = simds_[s]; !simd.waves.empty() && simd.wake <= base_ + s)
      turn(simd, base_ + s);
  if (!ended_.empty())
    for (Simd &simd : simds_)
      std::erase_if(simd.waves, [](const SimWave *wave) { return wave->ended; });
}

UnitReport ComputeUnit::run() {
  while (nextTurn() != kNever)
    step();
  return finish();
}

} // namespace wavesmith::emulator::cycles
