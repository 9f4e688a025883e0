// Matrix instructions leave registers that the hardware does not interlock. Distances are issue
// turns that really elapsed: the matrix pipe makes its next user wait, s_nop N waits N+1.

#include <algorithm>

#include "emulator/isa/Table.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

bool overlap(int first, int count, int otherFirst, int otherCount) {
  return first < otherFirst + otherCount && otherFirst < first + count;
}

} // namespace

void Machine::noteMatrix(Wave &wave, const Inst &inst) {
  if (inst.isNop) {
    wave.turn += static_cast<u64>(inst.immediate & 15);
    return;
  }
  const MatrixRow &row = matrixRow(*inst.row);
  u8 passes = row.passes;
  bool mixed = inst.row->opcode == 0x2d || inst.row->opcode == 0x2e;
  if (mixed && inst.cbsz >= 2 && inst.blgp >= 2)
    passes /= 2;
  wave.turn = std::max(wave.turn, wave.matrixFree);
  wave.matrixFree = wave.turn + passes;
  if (!checks(CheckKind::Hazards))
    return;
  MatrixShadow &shadow = wave.shadows[wave.nextShadow++ % 8];
  shadow.inst = &inst;
  shadow.first = inst.destination.index;
  shadow.count = inst.destination.words;
  shadow.issued = wave.turn;
  shadow.passes = passes;
  bool otherC = inst.row->use == Use::Matrix && inst.source[2].kind == OperandKind::Vector &&
                inst.source[2].index != inst.destination.index;
  shadow.cFirst = inst.source[2].index;
  shadow.cCount = otherC ? inst.source[2].words : 0;
  for (int i = 0; i < shadow.count; ++i)
    wave.vectorState[shadow.first + i] |= kMatrixHazard;
  for (int i = 0; i < shadow.cCount; ++i)
    wave.vectorState[shadow.cFirst + i] |= kMatrixHazard;
}

void Machine::checkHazards(Wave &wave, const Inst &inst) {
  // The turn at which this instruction issues.
  u64 now = inst.isMatrix ? std::max(wave.turn, wave.matrixFree) : wave.turn;
  auto report = [&](const MatrixShadow &shadow, const char *what, u64 need) {
    fault(CheckKind::Hazards, wave, inst, -1,
          fmt::format("{} {} {} turns after {} at +{:#x}, which needs {} wait states between", what,
                      "registers", now - shadow.issued, shadow.inst->row->name,
                      shadow.inst->pc - launch.program->entryAddress(), need));
  };
  auto clear = [&](int first, int count) {
    for (int i = 0; i < count; ++i)
      wave.vectorState[first + i] &= static_cast<u8>(~kMatrixHazard);
  };
  u64 extra = gfx950() ? 1 : 0;
  for (MatrixShadow &shadow : wave.shadows) {
    if (!shadow.inst)
      continue;
    u64 p = shadow.passes, elapsed = now - shadow.issued - 1;
    bool single = matrixRow(*shadow.inst->row).shape.a == MatrixType::F32;
    // Wait states that any user but an exact accumulator chain needs.
    u64 needAny = single ? p + 2 : p + 3 + (p > 2 ? extra : 0);
    u64 needOverlap = single ? p : p + 1 + (p > 2 ? extra : 0);
    if (elapsed >= needAny) {
      clear(shadow.first, shadow.count);
      clear(shadow.cFirst, shadow.cCount);
      shadow.inst = nullptr;
      continue;
    }
    for (int i = 0; i < inst.vectorReadCount; ++i) {
      const RegisterRange &range = inst.vectorReads[i];
      if (!overlap(range.first, range.count, shadow.first, shadow.count))
        continue;
      if (inst.isMatrix && range.operand == 2) {
        bool exact = range.first == shadow.first && range.count == shadow.count;
        u64 need = exact ? (p == 2 ? 2 : 0) : needOverlap;
        if (elapsed < need)
          report(shadow, "accumulates on", need);
      } else if (elapsed < needAny) {
        report(shadow, "reads result", needAny);
      }
    }
    for (int i = 0; i < inst.vectorWriteCount; ++i) {
      const RegisterRange &range = inst.vectorWrites[i];
      if (inst.isMatrix)
        continue; // in order through one pipe
      if (overlap(range.first, range.count, shadow.first, shadow.count))
        report(shadow, "overwrites result", needAny);
      else if (shadow.cCount && overlap(range.first, range.count, shadow.cFirst, shadow.cCount) &&
               inst.isVector && elapsed < p - 1)
        report(shadow, "overwrites accumulator input", p - 1);
    }
  }
  // A shadow that was cleared may have shared registers with one that is still young.
  for (const MatrixShadow &shadow : wave.shadows)
    if (shadow.inst)
      for (int i = 0; i < shadow.count; ++i)
        wave.vectorState[shadow.first + i] |= kMatrixHazard;
}

} // namespace wavesmith::emulator
