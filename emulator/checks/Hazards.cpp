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

/// Wait states that users of a matrix instruction's registers need (LLVM 22's hazard recogniser,
/// which agrees with the ISA guides' tables where these have one).
struct Needs {
  u64 exact;   ///< as the accumulator, the same registers
  u64 overlap; ///< as the accumulator, others of which some are the same
  u64 read;    ///< as A, B, or a vector operand
  u64 data;    ///< as what a memory instruction stores
  u64 write;   ///< being overwritten
  u64 writeC;  ///< its accumulator input being overwritten

  u64 most() const { return std::max({exact, overlap, read, data, write, writeC}); }
};

Needs needsOf(const MatrixRow &row, u64 p, bool gfx950) {
  if (row.shape.a == MatrixType::F64) {
    if (row.shape.m == 4)
      return {4, 4, 6, 9, 6, 0};
    return {0, p + 1, p + 3, 18, 11, 0};
  }
  const u64 exact = p == 2 ? 2 : 0;
  if (row.shape.a == MatrixType::F32)
    return {exact, p, p + 2, p + 2, p + 2, 0};
  const u64 any = p + 3 + (gfx950 && p > 2 ? 1 : 0);
  return {exact, p + 1 + (gfx950 ? 1 : 0), any, any, any, p - 1};
}

/// How long the pipe is taken. float64 runs at half the rate on gfx950; mixed formats at twice when
/// neither operand has eight bits.
u8 passesOf(const Inst &inst, bool gfx950) {
  const MatrixRow &row = matrixRow(*inst.row);
  const bool mixed = inst.row->opcode == 0x2d || inst.row->opcode == 0x2e;
  if (mixed && inst.cbsz >= 2 && inst.blgp >= 2)
    return row.passes / 2;
  if (gfx950 && row.shape.a == MatrixType::F64 && row.shape.m == 16)
    return row.passes * 2;
  return row.passes;
}

bool isMemory(const Inst &inst) {
  return inst.row->format == Format::Ds || isVectorMemory(inst.row->format);
}

} // namespace

void Machine::noteMatrix(Wave &wave, const Inst &inst) {
  if (inst.isNop) {
    wave.turn += static_cast<u64>(inst.immediate & 15);
    return;
  }
  const u8 passes = passesOf(inst, gfx950());
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
          fmt::format("{} {} {} turns after {} at {}, which needs {} wait states between", what,
                      "registers", now - shadow.issued, shadow.inst->row->name,
                      launch.program->place(*shadow.inst), need));
  };
  auto clear = [&](int first, int count) {
    for (int i = 0; i < count; ++i)
      wave.vectorState[first + i] &= static_cast<u8>(~kMatrixHazard);
  };
  for (MatrixShadow &shadow : wave.shadows) {
    if (!shadow.inst)
      continue;
    const u64 elapsed = now - shadow.issued - 1;
    const Needs needs = needsOf(matrixRow(*shadow.inst->row), shadow.passes, gfx950());
    if (elapsed >= needs.most()) {
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
        const u64 need = exact ? needs.exact : needs.overlap;
        if (elapsed < need)
          report(shadow, "accumulates on", need);
      } else {
        const bool stored = isMemory(inst) && range.operand != 0;
        const u64 need = stored ? needs.data : needs.read;
        if (elapsed < need)
          report(shadow, "reads result", need);
      }
    }
    for (int i = 0; i < inst.vectorWriteCount; ++i) {
      const RegisterRange &range = inst.vectorWrites[i];
      if (inst.isMatrix)
        continue; // in order through one pipe
      if (overlap(range.first, range.count, shadow.first, shadow.count)) {
        if (elapsed < needs.write)
          report(shadow, "overwrites result", needs.write);
      } else if (shadow.cCount && overlap(range.first, range.count, shadow.cFirst, shadow.cCount) &&
                 inst.isVector && elapsed < needs.writeC) {
        report(shadow, "overwrites accumulator input", needs.writeC);
      }
    }
  }
  // A shadow that was cleared may have shared registers with one that is still young.
  for (const MatrixShadow &shadow : wave.shadows)
    if (shadow.inst)
      for (int i = 0; i < shadow.count; ++i)
        wave.vectorState[shadow.first + i] |= kMatrixHazard;
}

} // namespace wavesmith::emulator
