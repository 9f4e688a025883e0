// Control flow, waits, barriers and the hardware registers.

#include <algorithm>
#include <bit>
#include <string_view>

#include "emulator/machine/Handlers.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

u64 nextPc(const Inst &inst) { return inst.pc + inst.size; }

void jumpTo(Machine &machine, Wave &wave, const Inst &inst, u64 address) {
  if (const Inst *target = machine.launch.program->at(address))
    wave.inst = target;
  else
    machine.fatal(CheckKind::Memory, wave, inst, -1,
                  fmt::format("jump to {:#x}, which is no code", address));
}

void jump(Machine &machine, Wave &wave, const Inst &inst, bool taken) {
  if (!taken)
    return;
  if (inst.target)
    wave.inst = inst.target;
  else // out of the function
    jumpTo(machine, wave, inst, nextPc(inst) + static_cast<u64>(i64{inst.immediate} * 4));
}

/// The branch stack: entries of four SGPRs, of which MODE counts those in use (CDNA3 ISA 4.6).
constexpr u32 kStackShift = 29, kStackEntries = 7;

void setStack(Wave &wave, u32 count) {
  wave.setMode((wave.mode & ~(7u << kStackShift)) | count << kStackShift);
}

/// Hardware registers that a kernel may read (CDNA3 ISA 3.4, 3.5, 3.12); those of the trap handler
/// and the performance monitor read as zero.
bool isHardwareRegister(u32 id) { return (id >= 1 && id <= 7) || (id >= 15 && id < 25); }
u32 hardwareRegister(Machine &machine, Wave &wave, u32 id) {
  const Program &program = *machine.launch.program;
  switch (id) {
  case 1:
    return wave.mode;
  case 2: // STATUS: SCC, EXECZ, VCCZ, IN_TG, VALID, SCRATCH_EN
    return u32{wave.scc} | u32{wave.exec() == 0} << 9 | u32{wave.vcc() == 0} << 10 |
           u32{machine.group.waves.size() > 1} << 11 | 1u << 16 |
           u32{machine.launch.scratchBytes != 0} << 28;
  case 4: // HW_ID: wave, SIMD
    return static_cast<u32>(wave.id / 4) | static_cast<u32>(wave.id % 4) << 4;
  case 5: // GPR_ALLOC: VGPRs by 8 and SGPRs by 16, less one; the wave is alone, so its bases are 0
    return static_cast<u32>(program.vgprs() / 8 - 1) << 8 |
           static_cast<u32>((program.sgprs() + 15) / 16 - 1) << 24;
  case 6: // LDS_ALLOC: in 512 bytes
    return ((machine.group.ldsBytes + 511) / 512) << 12;
  case 7: { // IB_STS: vmcnt, lgkmcnt
    auto vector = static_cast<u32>(std::min<std::size_t>(wave.vectorMemory.size(), 63));
    auto other =
        static_cast<u32>(std::min<std::size_t>(wave.ldsQueue.size() + wave.scalarQueue.size(), 15));
    return (vector & 15) | other << 8 | (vector >> 4) << 22;
  }
  case 15: // SH_MEM_BASES
    return (kPrivateAperture >> 16) | kSharedAperture;
  case 20: // XCC_ID: workgroups go to the eight XCDs in turn
    return static_cast<u32>(machine.groupIndex() % 8);
  default:
    return 0;
  }
}

/// Lanes whose bit is set go to the target, the others on; the smaller part first, the other part
/// waits on the stack.
void fork(Machine &machine, Wave &wave, const Inst &inst, u64 target) {
  u64 exec = wave.exec(), mask = machine.readScalar64(wave, inst.source[0]);
  u64 pass = mask & exec, fail = ~mask & exec;
  if (pass == exec)
    return jumpTo(machine, wave, inst, target);
  if (fail == exec)
    return;
  u32 count = wave.mode >> kStackShift;
  if (count >= kStackEntries)
    return machine.fatal(
        CheckKind::Registers, wave, inst, -1,
        fmt::format("forks with {} entries on the branch stack, which is full", count));
  bool failFirst = std::popcount(fail) < std::popcount(pass);
  int entry = static_cast<int>(4 * count);
  wave.setPair(entry, failFirst ? pass : fail);
  wave.setPair(entry + 2, failFirst ? target : nextPc(inst));
  for (int i = 0; i < 4; ++i) {
    wave.scalarValid[entry + i] = ~0u;
    wave.scalarState[entry + i] &= static_cast<u8>(~kInvalid);
  }
  setStack(wave, count + 1);
  wave.setPair(kExec, failFirst ? fail : pass);
  if (!failFirst)
    jumpTo(machine, wave, inst, target);
}

} // namespace

void forkTo(Machine &machine, Wave &wave, const Inst &inst) {
  fork(machine, wave, inst, machine.readScalar64(wave, inst.source[1]));
}
void forkRelative(Machine &machine, Wave &wave, const Inst &inst) {
  fork(machine, wave, inst, nextPc(inst) + static_cast<u64>(i64{inst.immediate} * 4));
}
void join(Machine &machine, Wave &wave, const Inst &inst) {
  u32 count = wave.mode >> kStackShift;
  if (machine.readScalar(wave, inst.source[0]) == count)
    return; // both parts have come here
  if (count == 0)
    return machine.fatal(CheckKind::Registers, wave, inst, -1,
                         "joins with nothing on the branch stack");
  setStack(wave, --count);
  wave.setPair(kExec, wave.pair(static_cast<int>(4 * count)));
  jumpTo(machine, wave, inst, wave.pair(static_cast<int>(4 * count + 2)));
}

void setKill(Machine &machine, Wave &wave, const Inst &inst) {
  if (inst.immediate & 1)
    endProgram(machine, wave, inst);
}

void refused(Machine &machine, Wave &wave, const Inst &inst) {
  bool trapHandler = std::string_view(inst.row->name).substr(0, 5) == "s_rfe";
  machine.fatal(CheckKind::Memory, wave, inst, -1,
                fmt::format("{} {} ({:#010x} {:#010x})", inst.row->name,
                            trapHandler ? "returns from a trap handler, and none runs here"
                                        : "belongs to graphics, which these chips do not have",
                            inst.words[0], inst.words[1]));
}

void doNothing(Machine &, Wave &, const Inst &) {}

void endProgram(Machine &machine, Wave &wave, const Inst &) {
  machine.waitAll(wave);
  wave.ended = wave.stopped = true;
}

void branchAlways(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, true);
}
void branchScc0(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, !wave.scc);
}
void branchScc1(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, wave.scc);
}
void branchVccz(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, wave.vcc() == 0);
}
void branchVccnz(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, wave.vcc() != 0);
}
void branchExecz(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, wave.exec() == 0);
}
void branchExecnz(Machine &machine, Wave &wave, const Inst &inst) {
  jump(machine, wave, inst, wave.exec() != 0);
}

void barrier(Machine &, Wave &wave, const Inst &) {
  wave.ldsDoneAt[wave.barriers & 1] = wave.ldsDone;
  wave.vectorDoneAt[wave.barriers & 1] = wave.vectorDone;
  wave.atBarrier = wave.stopped = true;
}

void waitCounters(Machine &machine, Wave &wave, const Inst &inst) {
  auto imm = static_cast<u32>(inst.immediate);
  machine.waitVector(wave, (imm & 15) | ((imm >> 14) & 3) << 4);
  machine.waitLds(wave, (imm >> 8) & 15);
}

void trap(Machine &machine, Wave &wave, const Inst &inst) {
  machine.fatal(CheckKind::Memory, wave, inst, -1,
                fmt::format("the kernel aborted itself with s_trap {}", inst.immediate));
}

void notAnInstruction(Machine &machine, Wave &wave, const Inst &inst) {
  machine.fatal(CheckKind::Memory, wave, inst, -1,
                fmt::format("not an instruction of {}: {:#010x} {:#010x}",
                            machine.gfx950() ? "gfx950" : "gfx942", inst.words[0], inst.words[1]));
}

void getPc(Machine &, Wave &wave, const Inst &inst) {
  wave.setPair(inst.destination.index, nextPc(inst));
}
void setPc(Machine &machine, Wave &wave, const Inst &inst) {
  jumpTo(machine, wave, inst, machine.readScalar64(wave, inst.source[0]));
}
void swapPc(Machine &machine, Wave &wave, const Inst &inst) {
  u64 target = machine.readScalar64(wave, inst.source[0]);
  wave.setPair(inst.destination.index, nextPc(inst));
  jumpTo(machine, wave, inst, target);
}
void callRelative(Machine &machine, Wave &wave, const Inst &inst) {
  wave.setPair(inst.destination.index, nextPc(inst));
  jumpTo(machine, wave, inst, nextPc(inst) + static_cast<u64>(i64{inst.immediate} * 4));
}

/// s_movrels, s_movreld: M0 counts registers from the one that is named.
void moveRelative(Machine &machine, Wave &wave, const Inst &inst) {
  bool source = inst.row->opcode < 0x2c, wide = inst.destination.words == 2;
  u32 m0 = wave.scalar[kM0], from = inst.source[0].index, to = inst.destination.index;
  u32 &moved = source ? from : to;
  moved += m0;
  if (moved + (wide ? 2 : 1) > kFlatScratch ||
      (source && inst.source[0].kind != OperandKind::Scalar))
    return machine.fatal(CheckKind::Registers, wave, inst, -1,
                         fmt::format("M0 is {}: s{} is no register", m0, moved));
  u64 value = source ? wave.scalar[from] | u64{wave.scalar[from + 1]} << 32
                     : machine.readScalar64(wave, inst.source[0]);
  if (wide)
    wave.setPair(static_cast<int>(to), value);
  else
    wave.scalar[to] = source ? static_cast<u32>(value) : machine.readScalar(wave, inst.source[0]);
  // What is written but not named is as valid as the source.
  bool valid = true;
  for (u32 word = 0; word < (wide ? 2 : 1) && inst.source[0].kind == OperandKind::Scalar; ++word)
    valid &= !(wave.scalarState[from + word] & kInvalid);
  for (u32 word = 0; word < (wide ? 2 : 1) && !source; ++word) {
    wave.guesses.erase(Wave::kScalarGuess + static_cast<int>(to + word));
    wave.scalarValid[to + word] = valid ? ~0u : 0;
    wave.scalarState[to + word] =
        static_cast<u8>((wave.scalarState[to + word] & ~kInvalid) | (valid ? 0 : kInvalid));
  }
}

void getRegister(Machine &machine, Wave &wave, const Inst &inst) {
  auto imm = static_cast<u32>(inst.immediate);
  u32 size = ((imm >> 11) & 31) + 1, mask = size == 32 ? ~0u : (1u << size) - 1;
  if (!isHardwareRegister(imm & 63))
    machine.fault(CheckKind::Registers, wave, inst, -1,
                  fmt::format("hardware register {} does not exist on {}", imm & 63,
                              machine.gfx950() ? "gfx950" : "gfx942"));
  wave.scalar[inst.destination.index] =
      (hardwareRegister(machine, wave, imm & 63) >> ((imm >> 6) & 31)) & mask;
}
void setRegister(Machine &machine, Wave &wave, const Inst &inst) {
  auto imm = static_cast<u32>(inst.immediate);
  u32 size = ((imm >> 11) & 31) + 1, offset = (imm >> 6) & 31;
  u32 mask = (size == 32 ? ~0u : (1u << size) - 1) << offset;
  if ((imm & 63) != 1) // MODE is the only one that code changes
    return;
  wave.setMode((wave.mode & ~mask) | (machine.readScalar(wave, inst.source[0]) << offset & mask));
}

} // namespace wavesmith::emulator
