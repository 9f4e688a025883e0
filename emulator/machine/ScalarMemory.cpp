// Scalar loads, stores and atomics. Results come out of order, so only lgkmcnt(0) guarantees them.

#include <algorithm>

#include "emulator/machine/Atomics.h"
#include "emulator/machine/Handlers.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

u64 scalarAddress(const Machine &machine, const Wave &wave, const Inst &inst, u64 base) {
  u64 offset = static_cast<u64>(i64{inst.immediate});
  u64 unit = std::max<u64>(1, inst.row->access.stride);
  if (inst.sourceCount > 1)
    offset += unit * machine.readScalar(wave, inst.source[1]);
  return (base + offset) & ~u64{3};
}

/// A buffer's base address and what may be accessed from it on.
struct ScalarBuffer {
  u64 base, size;
};
ScalarBuffer bufferOf(const Wave &wave, const Inst &inst) {
  int reg = inst.source[0].index;
  u64 stride = (wave.scalar[reg + 1] >> 16) & 0x3fff, records = wave.scalar[reg + 2];
  return {wave.pair(reg) & 0xffffffffffff, stride ? stride * records : records};
}
/// Bytes inside the buffer from an address on.
u64 limitOf(const ScalarBuffer &buffer, u64 address) {
  u64 offset = address - buffer.base;
  return offset < buffer.size ? buffer.size - offset : 0;
}

/// Where the bytes of a scalar access lie; a fault is reported when nowhere.
struct ScalarBytes {
  std::byte *bytes = nullptr;
  Allocation *allocation = nullptr;
  u8 *valid = nullptr; ///< scratch: a byte per byte
};
ScalarBytes find(Machine &machine, Wave &wave, const Inst &inst, u64 address, unsigned size,
                 const char *what) {
  // Scratch interleaves the lanes by dwords.
  if (address >> 32 == kPrivateAperture && size == 4) {
    u32 low = static_cast<u32>(address), perLane = machine.launch.scratchBytes;
    std::size_t lane = low / 4 % kLanes, offset = low / (4 * kLanes) * 4;
    if (offset + 4 <= perLane)
      return {&wave.scratch[lane * perLane + offset], nullptr,
              &wave.scratchValid[lane * perLane + offset]};
  }
  Allocation *allocation = machine.launch.memory->find(address);
  if (allocation && allocation->contains(address, size))
    return {allocation->at(address), allocation, nullptr};
  if (machine.checks(CheckKind::Memory) || !allocation)
    machine.fault(CheckKind::Memory, wave, inst, -1,
                  fmt::format("scalar {} of {} bytes at {:#x}: {}", what, size, address,
                              machine.launch.memory->describe(address)));
  return {};
}

/// The hardware counts 15 and stalls; this only bounds what a loop without waits may cost the host.
constexpr std::size_t kMaxPending = 64;

void issue(Machine &machine, Wave &wave, const Inst &inst, u64 address, u64 limit) {
  if (wave.scalarQueue.size() >= kMaxPending)
    machine.waitLds(wave, 0);
  PendingOp &op = wave.scalarQueue.push();
  op.inst = &inst;
  op.base = address;
  op.lanes = limit; // bytes that a buffer load may read from here
  machine.markPending(wave, inst, kPendingScalar);
  if (machine.vectorEarly())
    machine.landScalar(wave, op);
}

void store(Machine &machine, Wave &wave, const Inst &inst, u64 address, u64 limit) {
  for (int word = 0; word < inst.destination.words; ++word) {
    if (4 * u64(word) + 4 > limit)
      continue;
    u64 at = address + 4 * static_cast<u64>(word);
    ScalarBytes to = find(machine, wave, inst, at, 4, "store");
    if (!to.bytes)
      continue;
    std::memcpy(to.bytes, &wave.scalar[inst.destination.index + word], 4);
    if (machine.log() && to.allocation)
      machine.noteScalarStore(wave, inst, at, to.bytes);
    if (to.allocation)
      to.allocation->markWritten(at, 4);
    else
      std::memset(to.valid, 0xff, 4);
  }
}

/// Data and what to compare with were taken at issue.
void landAtomic(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  int words = access.bytes / 4;
  u64 old = 0;
  ScalarBytes at;
  if (op.base % access.bytes)
    machine.fault(CheckKind::Alignment, wave, inst, -1,
                  fmt::format("scalar atomic at {:#x}, which is not a multiple of {}", op.base,
                              access.bytes));
  else if (access.bytes <= op.lanes)
    at = find(machine, wave, inst, op.base, access.bytes, "atomic");
  if (at.bytes) {
    if (machine.log() && at.allocation)
      machine.noteScalarAtomic(wave, inst, op.base);
    auto kind = static_cast<AtomicKind>(access.atomic);
    u64 data = op.data[0][0], compare = op.data[0][words];
    if (words == 2) {
      data |= u64{op.data[0][1]} << 32;
      compare |= u64{op.data[0][3]} << 32;
      old = exchange<u64>(at.bytes, kind, data, compare);
    } else {
      old = exchange<u32>(at.bytes, kind, static_cast<u32>(data), static_cast<u32>(compare));
    }
    if (at.allocation)
      at.allocation->markWritten(op.base, access.bytes);
    else
      std::memset(at.valid, 0xff, access.bytes);
  }
  for (int word = 0; inst.sc0 && word < words; ++word) {
    int reg = inst.destination.index + word;
    wave.scalar[reg] = static_cast<u32>(old >> (32 * word));
    wave.scalarValid[reg] = ~0u;
    wave.scalarState[reg] &= static_cast<u8>(~kInvalid);
  }
}

void issueAtomic(Machine &machine, Wave &wave, const Inst &inst, u64 address, u64 limit) {
  PendingOp now;
  if (inst.sc0 && wave.scalarQueue.size() >= kMaxPending)
    machine.waitLds(wave, 0);
  PendingOp &op = inst.sc0 ? wave.scalarQueue.push() : now;
  op.inst = &inst;
  op.base = address;
  op.lanes = limit;
  for (int word = 0; word < inst.destination.words; ++word)
    op.data[0][word] = wave.scalar[inst.destination.index + word];
  if (inst.sc0)
    machine.markPending(wave, inst, kPendingScalar);
  if (!inst.sc0 || machine.vectorEarly())
    machine.landScalar(wave, op);
}

} // namespace

void Machine::landScalar(Wave &wave, PendingOp &op) {
  if (op.landed)
    return;
  op.landed = true;
  const Inst &inst = *op.inst;
  if (inst.row->use == Use::Atomic)
    return landAtomic(*this, wave, op);
  int reg = inst.destination.index;
  for (int word = 0; word < inst.destination.words; ++word) {
    u64 address = op.base + 4 * static_cast<u64>(word);
    u32 value = 0, valid = ~0u;
    if (4 * u64(word) + 4 <= op.lanes) {
      ScalarBytes from = find(*this, wave, inst, address, 4, "load");
      if (from.bytes) {
        if (log_ && from.allocation)
          noteScalarLoad(wave, inst, address);
        std::memcpy(&value, from.bytes, 4);
        u32 written = from.allocation ? from.allocation->written(address, 4) : 15;
        for (int byte = 0; byte < 4; ++byte)
          if (!((written >> byte) & 1))
            valid &= ~(0xffu << (8 * byte));
        if (from.valid)
          std::memcpy(&valid, from.valid, 4);
      }
    }
    wave.scalar[reg + word] = value;
    if (tracksValidity_) {
      if (valid != ~0u)
        wave.guesses.erase(Wave::kScalarGuess + reg + word);
      wave.scalarValid[reg + word] = valid;
      wave.scalarState[reg + word] =
          (wave.scalarState[reg + word] & ~kInvalid) | (valid == ~0u ? 0 : kInvalid);
    }
  }
}

void scalarLoad(Machine &machine, Wave &wave, const Inst &inst) {
  u64 base = machine.readScalar64(wave, inst.source[0]);
  issue(machine, wave, inst, scalarAddress(machine, wave, inst, base), ~u64{0});
}

void scalarBufferLoad(Machine &machine, Wave &wave, const Inst &inst) {
  ScalarBuffer buffer = bufferOf(wave, inst);
  u64 address = scalarAddress(machine, wave, inst, buffer.base);
  issue(machine, wave, inst, address, limitOf(buffer, address));
}

void scalarStore(Machine &machine, Wave &wave, const Inst &inst) {
  u64 base = machine.readScalar64(wave, inst.source[0]);
  store(machine, wave, inst, scalarAddress(machine, wave, inst, base), ~u64{0});
}

void scalarBufferStore(Machine &machine, Wave &wave, const Inst &inst) {
  ScalarBuffer buffer = bufferOf(wave, inst);
  u64 address = scalarAddress(machine, wave, inst, buffer.base);
  store(machine, wave, inst, address, limitOf(buffer, address));
}

void scalarAtomic(Machine &machine, Wave &wave, const Inst &inst) {
  u64 base = machine.readScalar64(wave, inst.source[0]);
  issueAtomic(machine, wave, inst, scalarAddress(machine, wave, inst, base), ~u64{0});
}

void scalarBufferAtomic(Machine &machine, Wave &wave, const Inst &inst) {
  ScalarBuffer buffer = bufferOf(wave, inst);
  u64 address = scalarAddress(machine, wave, inst, buffer.base);
  issueAtomic(machine, wave, inst, address, limitOf(buffer, address));
}

void readClock(Machine &, Wave &wave, const Inst &inst) {
  // Turns of this wave, so that runs are reproducible.
  int reg = inst.destination.index;
  wave.setPair(reg, wave.turn * 4);
  for (int word = 0; word < 2; ++word) {
    wave.scalarValid[reg + word] = ~0u;
    wave.scalarState[reg + word] &= static_cast<u8>(~kInvalid);
  }
}

} // namespace wavesmith::emulator
