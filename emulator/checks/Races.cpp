// LDS races and LDS DMA that was not waited for.
//
// Each dword remembers its last writer and, per wave, its last reader, by that wave's own order of
// operations. An access of wave b is ordered after an operation of wave a exactly when a had
// completed it (waited for it) on arriving at the last barrier that b has passed.

#include <bit>

#include "emulator/machine/MemoryAccess.h"

namespace wavesmith::emulator {
namespace {

/// Had `wave` completed its operation before the barrier that `observer` passed last?
bool ordered(const Wave &wave, const Wave &observer, u64 sequence, bool dma) {
  if (observer.barriers == 0)
    return false;
  u64 parity = (observer.barriers - 1) & 1;
  return sequence <= (dma ? wave.vectorDoneAt[parity] : wave.ldsDoneAt[parity]);
}

u8 byteMask(u32 address, unsigned size) {
  unsigned first = address % 4;
  return static_cast<u8>(((1u << std::min(size, 4u)) - 1) << first & 15);
}

std::string describe(const Machine &machine, const Inst *inst, int wave) {
  return fmt::format("{} of wave {} at +{:#x}", inst->lds ? "LDS DMA" : inst->row->name, wave,
                     inst->pc - machine.launch.program->entryAddress());
}

} // namespace

void noteLdsRead(Machine &machine, Wave &wave, const Inst &inst, int lane, u32 address,
                 unsigned size, u64 sequence) {
  Workgroup &group = machine.group;
  LdsRead *reads = group.reads[wave.id].data();
  for (u32 dword = address / 4; dword <= (address + size - 1) / 4; ++dword) {
    const LdsWrite &write = group.writes[dword];
    reads[dword] = {sequence, &inst};
    if (write.sequence == 0)
      continue;
    if (size < 4 && !(write.bytes & byteMask(address, size)))
      continue;
    if (write.wave == wave.id) {
      if (write.dma && write.sequence > wave.vectorDone && machine.checks(CheckKind::Waits))
        machine.fault(CheckKind::Waits, wave, inst, lane,
                      fmt::format("reads LDS at {:#x}, which an LDS DMA at +{:#x} still fills "
                                  "(vmcnt not waited for)",
                                  dword * 4,
                                  write.inst->pc - machine.launch.program->entryAddress()));
      continue;
    }
    if (machine.checks(CheckKind::Races) &&
        !ordered(*group.waves[write.wave], wave, write.sequence, write.dma))
      machine.fault(CheckKind::Races, wave, inst, lane,
                    fmt::format("reads LDS at {:#x} with no completed wait and barrier after the "
                                "write by {}",
                                dword * 4, describe(machine, write.inst, write.wave)));
  }
}

void noteLdsWrite(Machine &machine, Wave &wave, const Inst &inst, int lane, u32 address,
                  unsigned size, u64 sequence, bool dma) {
  Workgroup &group = machine.group;
  bool races = machine.checks(CheckKind::Races);
  for (u32 dword = address / 4; dword <= (address + size - 1) / 4; ++dword) {
    LdsWrite &write = group.writes[dword];
    u8 bytes = size < 4 ? byteMask(address, size) : 15;
    if (races && write.sequence && write.wave != wave.id && (write.bytes & bytes) &&
        !ordered(*group.waves[write.wave], wave, write.sequence, write.dma))
      machine.fault(CheckKind::Races, wave, inst, lane,
                    fmt::format("writes LDS at {:#x} with no completed wait and barrier after the "
                                "write by {}",
                                dword * 4, describe(machine, write.inst, write.wave)));
    if (races)
      for (std::size_t other = 0; other < group.waves.size(); ++other) {
        const LdsRead &read = group.reads[other][dword];
        if (read.sequence == 0 || static_cast<int>(other) == wave.id ||
            ordered(*group.waves[other], wave, read.sequence, false))
          continue;
        machine.fault(CheckKind::Races, wave, inst, lane,
                      fmt::format("writes LDS at {:#x} with no completed wait and barrier after "
                                  "the read by {}",
                                  dword * 4,
                                  describe(machine, read.inst, static_cast<int>(other))));
      }
    // An own read in flight may still see the new bytes of a DMA, which runs on another counter.
    const LdsRead &own = group.reads[wave.id][dword];
    if (dma && own.sequence > wave.ldsDone && machine.checks(CheckKind::Waits))
      machine.fault(CheckKind::Waits, wave, inst, lane,
                    fmt::format("LDS DMA overwrites {:#x} while the read at +{:#x} is in flight "
                                "(lgkmcnt not waited for)",
                                dword * 4, own.inst->pc - machine.launch.program->entryAddress()));
    write = {sequence, &inst, static_cast<u8>(wave.id), bytes, dma};
  }
}

void noteDmaIssue(Machine &machine, Wave &wave, const PendingOp &op) {
  if (!machine.checks(CheckKind::Races) && !machine.checks(CheckKind::Waits))
    return;
  const Inst &inst = *op.inst;
  unsigned bytes = inst.row->access.bytes < 4 ? 4 : inst.row->access.bytes;
  u32 stride = bytes > 4 ? 16 : 4;
  for (int lane = 0; lane < kLanes; ++lane) {
    u64 to = u64{op.ldsBase} + u64(lane) * stride;
    if ((op.lanes >> lane) & 1 && to + bytes <= machine.group.ldsBytes)
      noteLdsWrite(machine, wave, inst, lane, static_cast<u32>(to), bytes, op.sequence, true);
  }
}

} // namespace wavesmith::emulator
