// Scalar loads and stores. Results come out of order, so only lgkmcnt(0) guarantees them.

#include <chrono>

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

u64 scalarAddress(const Machine &machine, const Wave &wave, const Inst &inst, u64 base) {
  u64 offset = static_cast<u64>(i64{inst.immediate});
  if (inst.sourceCount > 1)
    offset += machine.readScalar(wave, inst.source[1]);
  return (base + offset) & ~u64{3};
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

} // namespace

void Machine::landScalar(Wave &wave, PendingOp &op) {
  if (op.landed)
    return;
  op.landed = true;
  const Inst &inst = *op.inst;
  int reg = inst.destination.index;
  for (int word = 0; word < inst.destination.words; ++word) {
    u64 address = op.base + 4 * word;
    u32 value = 0, valid = ~0u;
    if (4 * u64(word) + 4 <= op.lanes) {
      Allocation *allocation = launch.memory->find(address);
      if (!allocation || !allocation->contains(address, 4)) {
        if (checks(CheckKind::Memory) || !allocation)
          fault(CheckKind::Memory, wave, inst, -1,
                fmt::format("scalar load of 4 bytes at {:#x}: {}", address,
                            launch.memory->describe(address)));
      } else {
        std::memcpy(&value, allocation->at(address), 4);
        u32 written = allocation->written(address, 4);
        for (int byte = 0; byte < 4; ++byte)
          if (!((written >> byte) & 1))
            valid &= ~(0xffu << (8 * byte));
      }
    }
    wave.scalar[reg + word] = value;
    if (tracksValidity_) {
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
  int reg = inst.source[0].index;
  u64 base = wave.pair(reg) & 0xffffffffffff;
  u64 stride = (wave.scalar[reg + 1] >> 16) & 0x3fff, records = wave.scalar[reg + 2];
  u64 size = stride ? stride * records : records;
  u64 address = scalarAddress(machine, wave, inst, base);
  issue(machine, wave, inst, address, address - base < size ? size - (address - base) : 0);
}

void scalarStore(Machine &machine, Wave &wave, const Inst &inst) {
  u64 address = scalarAddress(machine, wave, inst, machine.readScalar64(wave, inst.source[0]));
  for (int word = 0; word < inst.destination.words; ++word) {
    Allocation *allocation = machine.launch.memory->find(address + 4 * word);
    if (!allocation || !allocation->contains(address + 4 * word, 4)) {
      machine.fault(CheckKind::Memory, wave, inst, -1,
                    fmt::format("scalar store of 4 bytes at {:#x}: {}", address + 4 * word,
                                machine.launch.memory->describe(address + 4 * word)));
      continue;
    }
    std::memcpy(allocation->at(address + 4 * word), &wave.scalar[inst.destination.index + word], 4);
    allocation->markWritten(address + 4 * word, 4);
  }
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
