#include "emulator/machine/Machine.h"

#include <algorithm>
#include <bit>

#include "emulator/cycles/Trace.h"
#include "emulator/machine/Handlers.h"

namespace wavesmith::emulator {
namespace {

constexpr u64 kLockstepTurn = 32;
/// A wave that spins on LDS must give way now and then even in run-to-barrier order.
constexpr u64 kLongTurn = u64{1} << 16;

/// Bytes that look like nothing in particular: large, odd, and NaN as bf16 pairs now and then.
u32 poison(u64 seed) {
  seed = (seed ^ (seed >> 31)) * 0x9e3779b97f4a7c15;
  seed ^= seed >> 29;
  return static_cast<u32>(seed * 0xbf58476d1ce4e5b9 >> 32) | 0x40404040;
}

} // namespace

Machine::Machine(const Launch &launch)
    : launch(launch), lanes(laneSet()),
      vectorEarly_(launch.options->order.vectorMemory == ExecutionOrder::Landing::Early),
      ldsEarly_(launch.options->order.lds == ExecutionOrder::Landing::Early) {
  tracksValidity_ = checks(CheckKind::Uninitialised);
  checksLds_ = checks(CheckKind::Races) || checks(CheckKind::Waits) || checks(CheckKind::Memory) ||
               checks(CheckKind::Alignment);
  checksHazards_ = checks(CheckKind::Hazards);
  anyChecks_ = launch.options->checks.mask != 0;
  u64 threads = u64{launch.block[0]} * launch.block[1] * launch.block[2];
  for (u64 first = 0; first < threads; first += kLanes) {
    auto wave = std::make_unique<Wave>();
    wave->id = static_cast<int>(group.waves.size());
    wave->group = &group;
    // Zero pages of the host, as far as they are touched.
    wave->storage.reset(
        static_cast<u32 *>(std::calloc((kVectorRegisters + 36) * kLanes + 16, sizeof(u32))));
    if (!wave->storage)
      throw std::bad_alloc();
    auto address = reinterpret_cast<std::uintptr_t>(wave->storage.get());
    wave->vector = wave->storage.get() + (64 - address % 64) % 64 / 4;
    wave->vectorValid.reset(
        static_cast<LaneValidity *>(std::calloc(kVectorRegisters + 64, sizeof(LaneValidity))));
    if (!wave->vectorValid)
      throw std::bad_alloc();
    wave->scratch.resize(std::size_t{launch.scratchBytes} * kLanes);
    wave->scratchValid.resize(wave->scratch.size());
    group.waves.push_back(std::move(wave));
  }
  group.ldsBytes = launch.ldsBytes;
  group.lds.resize((launch.ldsBytes + 67) & ~3u); // filled by dwords
  group.ldsValid.resize(group.lds.size());
  if (checksLds_)
    group.shadow.resize(group.waves.size(), launch.ldsBytes);
  if (launch.options->coverage)
    coverage_.resize(launch.program->instructions().size());
}

Machine::~Machine() = default;

u64 Machine::groupIndex() const {
  return group.id[0] + u64{launch.grid[0]} * (group.id[1] + u64{launch.grid[1]} * group.id[2]);
}

void Machine::startWaves(std::array<u32, 3> id) {
  const KernelInfo &kernel = launch.program->kernel();
  const KernelDescriptor &descriptor = kernel.descriptor;
  bool poisoned = launch.options->order.poison;
  group.id = id;
  const u64 index = groupIndex();
  random_.seed(launch.options->seed * 0x9e3779b97f4a7c15 + index);
  group.barriers = 0;
  group.aborted = false;
  for (std::size_t i = 0; i < group.lds.size(); i += 4) {
    u32 value = poisoned ? poison(i * 77 + index + launch.options->seed) : 0;
    std::memcpy(&group.lds[i], &value, 4);
  }
  std::fill(group.ldsValid.begin(), group.ldsValid.end(), tracksValidity_ ? 0 : 0xff);
  if (checksLds_)
    group.shadow.reset();
  u32 threads = launch.block[0] * launch.block[1] * launch.block[2];
  int vgprs = std::min(kVectorRegisters, launch.program->vgprs());
  for (auto &pointer : group.waves) {
    Wave &wave = *pointer;
    wave.inst = launch.program->entry();
    wave.ended = wave.atBarrier = wave.stopped = wave.scc = false;
    wave.sccValid = true;
    wave.turn = wave.instructions = wave.matrixFree = 0;
    wave.vectorSequence = wave.vectorDone = wave.ldsSequence = wave.ldsDone = wave.barriers = 0;
    wave.ldsDoneAt[0] = wave.ldsDoneAt[1] = wave.vectorDoneAt[0] = wave.vectorDoneAt[1] = 0;
    wave.vectorMemory.clear();
    wave.ldsQueue.clear();
    wave.scalarQueue.clear();
    std::fill(std::begin(wave.shadows), std::end(wave.shadows), MatrixShadow());
    std::fill(std::begin(wave.recent), std::end(wave.recent), Wave::Issued());
    wave.lastAllocation = nullptr;
    wave.guesses.clear();
    wave.guessSeed = 0;
    u8 fresh = tracksValidity_ ? kInvalid : 0;
    std::memset(wave.vectorState, fresh, sizeof(wave.vectorState));
    std::memset(wave.scalarState, fresh, sizeof(wave.scalarState));
    std::memset(wave.vectorPending, 0, sizeof(wave.vectorPending));
    std::memset(wave.scalarValid, tracksValidity_ ? 0 : 0xff, sizeof(wave.scalarValid));
    for (int reg = 0; tracksValidity_ && reg < vgprs; ++reg)
      wave.vectorValid[reg].fill(0);
    std::fill(wave.scratchValid.begin(), wave.scratchValid.end(), tracksValidity_ ? 0 : 0xff);
    u64 seed = launch.options->seed + index * 16 + static_cast<u64>(wave.id);
    for (int i = 0; i < vgprs * kLanes; ++i)
      wave.vector[i] = poisoned ? poison(seed * 40000 + static_cast<u64>(i)) : 0;
    for (int i = 0; i < kScalarRegisters; ++i)
      wave.scalar[i] = poisoned ? poison(seed * 3000 + static_cast<u64>(i)) : 0;
    // Work-item ids, packed; lanes past the block's end do not exist.
    u64 exec = 0;
    for (u32 lane = 0; lane < kLanes; ++lane) {
      u32 linear = static_cast<u32>(wave.id) * kLanes + lane;
      if (linear >= threads)
        continue;
      exec |= u64{1} << lane;
      u32 x = linear % launch.block[0], y = linear / launch.block[0] % launch.block[1],
          z = linear / (launch.block[0] * launch.block[1]);
      wave.vector[lane] = x | y << 10 | z << 20;
    }
    setAllValid(wave, 0, ~u64{0});
    auto defineScalar = [&](int index, u32 value) {
      wave.scalar[index] = value;
      wave.scalarValid[index] = ~0u;
      wave.scalarState[index] = 0;
    };
    for (int index : {int{kExec}, kExec + 1})
      defineScalar(index, static_cast<u32>(exec >> (index == kExec ? 0 : 32)));
    defineScalar(kFlatScratch, 0);
    defineScalar(kFlatScratch + 1, kPrivateAperture);
    // Constant codes of the register array that are no registers stay valid.
    wave.scalarState[125] = 0;
    u32 bits = descriptor.rsrc1;
    wave.setMode(((bits >> 12) & 0xff) | ((bits >> 21) & 1) << 8 | ((bits >> 23) & 1) << 9 |
                 ((bits >> 26) & 1) << 23);
    int next = 0;
    auto user = [&](int property, int words, u64 value) {
      if (!((descriptor.properties >> property) & 1))
        return;
      for (int i = 0; i < words; ++i)
        defineScalar(next++, i < 2 ? static_cast<u32>(value >> (32 * i)) : 0);
    };
    user(0, 4, 0);
    user(1, 2, launch.packetAddress);
    user(2, 2, launch.queueAddress);
    user(3, 2, launch.kernargAddress);
    user(4, 2, 0);
    user(5, 2, 0);
    user(6, 1, launch.scratchBytes);
    // Preloaded kernel arguments are loaded by the prologue at the entry; here is their room.
    next += descriptor.kernargPreload & 127;
    for (int dim = 0; dim < 3; ++dim)
      if ((descriptor.rsrc2 >> (7 + dim)) & 1)
        defineScalar(next++, id[dim]);
    if ((descriptor.rsrc2 >> 10) & 1)
      defineScalar(next++, u32{wave.id == 0} << 31 | static_cast<u32>(wave.id) << 20 |
                               static_cast<u32>(group.waves.size()));
  }
}

u64 Machine::special(const Wave &wave, const Operand &operand) const {
  switch (static_cast<SpecialOperand>(operand.index)) {
  case SpecialOperand::Vccz:
    return wave.vcc() == 0;
  case SpecialOperand::Execz:
    return wave.exec() == 0;
  case SpecialOperand::Scc:
    return wave.scc;
  case SpecialOperand::SharedBase:
    return u64{kSharedAperture} << (operand.words == 2 ? 32 : 0);
  case SpecialOperand::PrivateBase:
    return u64{kPrivateAperture} << (operand.words == 2 ? 32 : 0);
  default:
    return ~u64{0};
  }
}

const u32 *Machine::fetch(Wave &wave, const Operand &operand, u32 *scratch) const {
  switch (operand.kind) {
  case OperandKind::Vector:
    return wave.lanes(operand.index);
  case OperandKind::Constant:
    return operand.lanes;
  case OperandKind::Scalar:
    lanes.splat(scratch, wave.scalar[operand.index]);
    if (operand.words == 2)
      lanes.splat(scratch + kLanes, wave.scalar[operand.index + 1]);
    return scratch;
  default: {
    u64 value = special(wave, operand);
    lanes.splat(scratch, static_cast<u32>(value));
    if (operand.words == 2)
      lanes.splat(scratch + kLanes, static_cast<u32>(value >> 32));
    return scratch;
  }
  }
}

void Machine::writeVector(Wave &wave, const Operand &to, const u32 *words, int count,
                          u64 mask) const {
  for (int i = 0; i < count; ++i) {
    u32 *reg = wave.lanes(to.index + i);
    if (mask == ~u64{0})
      lanes.copy(reg, words + i * kLanes);
    else
      lanes.blend(reg, words + i * kLanes, mask);
  }
}

u8 Machine::attention(const Wave &wave, const Inst &inst) const {
  u8 attention = 0;
  auto look = [&](const u8 *states, const RegisterRange *ranges, int count) {
    for (int i = 0; i < count; ++i) {
      const u8 *state = states + ranges[i].first;
      int words = ranges[i].count;
      for (; words >= 8; words -= 8, state += 8) {
        u64 eight;
        std::memcpy(&eight, state, 8);
        if (eight)
          for (int j = 0; j < 8; ++j)
            attention |= state[j];
      }
      for (int j = 0; j < words; ++j)
        attention |= state[j];
    }
  };
  look(wave.vectorState, inst.vectorReads, inst.vectorReadCount);
  look(wave.vectorState, inst.vectorWrites, inst.vectorWriteCount);
  look(wave.scalarState, inst.scalarReads, inst.scalarReadCount);
  look(wave.scalarState, inst.scalarWrites, inst.scalarWriteCount);
  if (!wave.sccValid && (inst.readsScc || inst.writesScc))
    attention |= kInvalid;
  return attention | (inst.exceedsAllocation ? kOutside : 0);
}

template <bool kChecked> void Machine::turn(Wave &wave, u64 limit) {
  const Inst *first = coverage_.empty() ? nullptr : launch.program->instructions().data();
  while (limit--) {
    const Inst &inst = *wave.inst;
    wave.inst = inst.next;
    ++wave.turn;
    ++wave.instructions;
    if (first) {
      const Inst *counted = inst.original ? inst.original : &inst;
      if (counted >= first && counted < first + coverage_.size())
        ++coverage_[counted - first];
    }
    if constexpr (kChecked) {
      if (inst.hazardWindow && checksHazards_)
        checkRecent(wave, inst);
      if (u8 marks = attention(wave, inst))
        checkedStep(wave, inst, marks);
      else
        inst.handler(*this, wave, inst);
      if (inst.isMatrix || inst.isNop)
        noteMatrix(wave, inst);
      wave.recent[wave.instructions % 8] = {&inst, wave.turn};
    } else {
      inst.handler(*this, wave, inst);
    }
    if (recorder_) [[unlikely]]
      recorder_->step(wave, inst);
    if (wave.stopped)
      return;
    if (wave.redirected) [[unlikely]]
      redirect(wave);
  }
}

bool Machine::releaseBarrier() {
  bool anyWaiting = false;
  for (auto &wave : group.waves) {
    if (!wave->ended && !wave->atBarrier)
      return false;
    anyWaiting |= wave->atBarrier;
  }
  if (!anyWaiting)
    return false;
  ++group.barriers;
  for (auto &wave : group.waves) {
    if (wave->ended) {
      // What an ended wave did is complete, and every later barrier orders it.
      wave->ldsDoneAt[wave->barriers & 1] = wave->vectorDoneAt[wave->barriers & 1] = ~u64{0};
    } else {
      wave->atBarrier = wave->stopped = false;
      if (wave->redirected) [[unlikely]]
        redirect(*wave);
    }
    ++wave->barriers;
  }
  return true;
}

u64 Machine::executed() const {
  u64 sum = 0;
  for (const auto &wave : group.waves)
    sum += wave->instructions;
  return sum;
}

bool Machine::advance(u64 instructions) {
  auto waves = launch.options->order.waves;
  u64 most = launch.options->maxInstructionsPerWave;
  u64 stop = executed() + instructions;
  while (!group.aborted) {
    bool ran = false;
    if (waves == ExecutionOrder::Waves::Preemptive)
      std::shuffle(order_.begin(), order_.end(), random_);
    for (Wave *wave : order_) {
      if (wave->stopped || group.aborted)
        continue;
      u64 limit = waves == ExecutionOrder::Waves::Lockstep       ? kLockstepTurn
                  : waves == ExecutionOrder::Waves::RunToBarrier ? kLongTurn
                                                                 : 1 + random_() % 64;
      limit = std::min(limit, most - wave->instructions);
      if (anyChecks_)
        turn<true>(*wave, limit);
      else
        turn<false>(*wave, limit);
      ran = true;
      if (wave->instructions >= most && !wave->ended) {
        std::string waiting;
        for (auto &other : group.waves)
          if (other->atBarrier && other.get() != wave)
            waiting += fmt::format(" {}", other->id);
        fatal(CheckKind::Barriers, *wave, *wave->inst, -1,
              fmt::format(
                  "the wave did not end within {} instructions (max_instructions in "
                  "WAVESMITH_EMULATOR){}{}",
                  most, waiting.empty() ? "" : "; waves that wait for it at a barrier:", waiting));
      }
    }
    if (!ran && !releaseBarrier())
      return true;
    if (executed() >= stop)
      return false;
  }
  return true;
}

void Machine::start(std::array<u32, 3> id, GroupLog *log, GlobalRaces *races) {
  faults_ = GroupFaults();
  reported_.clear();
  log_ = log;
  races_ = races;
  startWaves(id);
  order_.clear();
  for (auto &wave : group.waves)
    order_.push_back(wave.get());
  if (launch.sampler && launch.sampler->wants(groupIndex()))
    recorder_ =
        std::make_unique<cycles::TraceRecorder>(*launch.sampler, groupIndex(), group.waves.size());
}

GroupFaults Machine::finish() {
  u64 executedNow = executed();
  instructions_ += executedNow;
  if (launch.sampler)
    launch.sampler->setInstructions(groupIndex(), executedNow);
  if (recorder_)
    launch.sampler->add(recorder_->take());
  recorder_.reset();
  log_ = nullptr;
  races_ = nullptr;
  return std::move(faults_);
}

Fault makeFault(const Launch &launch, CheckKind kind, const Inst &inst, std::array<u32, 3> group,
                int wave, int lane, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.kernel = launch.program->kernel().name;
  fault.pc = static_cast<std::int64_t>(inst.pc - launch.program->entryAddress());
  fault.workgroup = group;
  fault.wave = wave;
  fault.lane = lane;
  auto text = disassemble(std::span<const std::uint32_t>(inst.words, 4), inst.pc,
                          launch.program->gfx950() ? "gfx950" : "gfx942", nullptr);
  fault.disassembly = text ? *text : text.status().message();
  fault.source = launch.program->sourceOf(inst);
  fault.message = std::move(message);
  return fault;
}

void Machine::fault(CheckKind kind, const Wave &wave, const Inst &inst, int lane,
                    std::string message) {
  bool warning = kind == CheckKind::Hazards && !launch.hazardsAreErrors;
  std::vector<Fault> &kept = warning ? faults_.warnings : faults_.kept;
  if (!warning)
    ++faults_.counts[static_cast<int>(kind)];
  if (!reported_.insert({static_cast<int>(kind), inst.pc}).second ||
      kept.size() >= static_cast<std::size_t>(launch.options->maxFaults))
    return;
  kept.push_back(makeFault(launch, kind, inst, group.id, wave.id, lane, std::move(message)));
}

void Machine::fatal(CheckKind kind, Wave &wave, const Inst &inst, int lane, std::string message) {
  fault(kind, wave, inst, lane, std::move(message));
  group.aborted = true;
  wave.stopped = true;
}

} // namespace wavesmith::emulator
