// The modes that change what an instruction is: VGPR indexing by M0 (CDNA3 ISA 6.6) and skipping of
// vector instructions (VSKIP). While one is on, the wave executes copies of the instructions with
// the registers that they really touch, so that every check and wait sees those.

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

/// What VSKIP skips: vector ALU, vector memory, LDS.
bool isSkipped(const Inst &inst) {
  if (!inst.row)
    return false;
  switch (inst.row->format) {
  case Format::Ds:
  case Format::Flat:
  case Format::Global:
  case Format::Scratch:
  case Format::Mtbuf:
    return true;
  case Format::Mubuf:
    return inst.row->use != Use::Cache;
  default:
    return inst.isVector;
  }
}

constexpr u32 kIndexBits = 0xff, kIndexMaskBits = 0xf000;

void setIndexField(Wave &wave, u32 field, u32 value) {
  wave.scalar[kM0] = (wave.scalar[kM0] & ~field) | (value & field);
}

} // namespace

void setIndexOn(Machine &machine, Wave &wave, const Inst &inst) {
  setIndexField(wave, kIndexBits, machine.readScalar(wave, inst.source[0]));
  setIndexField(wave, kIndexMaskBits, static_cast<u32>(inst.immediate) << 12);
  wave.setMode(wave.mode | kModeIndex);
}

void setIndexOff(Machine &, Wave &wave, const Inst &) { wave.setMode(wave.mode & ~kModeIndex); }

void setIndexMode(Machine &, Wave &wave, const Inst &inst) {
  setIndexField(wave, kIndexMaskBits, static_cast<u32>(inst.immediate) << 12);
}

void setIndexValue(Machine &machine, Wave &wave, const Inst &inst) {
  setIndexField(wave, kIndexBits, machine.readScalar(wave, inst.source[0]));
}

void setSkip(Machine &machine, Wave &wave, const Inst &inst) {
  u32 bit = machine.readScalar(wave, inst.source[1]) & 31;
  bool skip = (machine.readScalar(wave, inst.source[0]) >> bit) & 1;
  wave.setMode((wave.mode & ~kModeSkip) | (skip ? kModeSkip : 0));
}

void Machine::redirect(Wave &wave) {
  const Inst &inst = *wave.inst;
  if (wave.mode & kModeSkip) {
    if (isSkipped(inst))
      wave.inst = launch.program->redirected(inst, 0, true);
    return;
  }
  if (!inst.isVector)
    return;
  constexpr u32 kUsed = kIndexBits | kIndexMaskBits;
  if ((wave.scalarState[kM0] & kInvalid) && (~wave.scalarValid[kM0] & kUsed)) {
    fault(CheckKind::Uninitialised, wave, inst, -1,
          "M0, which selects registers by VGPR indexing, is undefined");
    wave.scalarValid[kM0] |= kUsed;
  }
  wave.inst = launch.program->redirected(inst, wave.scalar[kM0], false);
}

} // namespace wavesmith::emulator
