// The short-range hazards of gfx942 and gfx950 (LLVM's hazard recogniser and the ISA guides agree
// on these numbers).

#include "emulator/checks/WaitStates.h"

#include <algorithm>

#include "emulator/machine/Handlers.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

// What an instruction leaves behind.
enum : u16 {
  kWritesVector = 1,   ///< VALU result in VGPRs
  kTranscendental = 2, ///< by the slow unit
  kWritesPart = 4,     ///< only part of a register
  kWritesScalar = 8,   ///< VALU result in SGPRs
  kWritesExec = 16,    ///< VALU result in EXEC
  kScalarWritesM0 = 32,
};
// What it must not meet too early.
enum : u16 {
  kMatrixOperand = 1,
  kDppSource = 2,
  kPlainVector = 4,
  kScalarConstant = 8, ///< a VALU that reads SGPRs
  kMemoryScalar = 16,  ///< vector memory that reads SGPRs
  kLaneSelect = 32,
  kDivFmas = 64,
  kReadsLane = 128,
  kUsesM0 = 256,
};

bool isTranscendental(const Row &row) {
  if (row.format != Format::Vop1)
    return false;
  return (row.opcode >= 0x20 && row.opcode <= 0x2a) || (row.opcode >= 0x3d && row.opcode <= 0x41) ||
         row.opcode == 0x49 || row.opcode == 0x4a || row.opcode == 0x4b || row.opcode == 0x4c;
}

bool shares(const RegisterRange *a, int countA, const RegisterRange *b, int countB) {
  for (int i = 0; i < countA; ++i)
    for (int j = 0; j < countB; ++j)
      if (a[i].first < b[j].first + b[j].count && b[j].first < a[i].first + a[i].count)
        return true;
  return false;
}

bool writesScalar(const Inst &inst, int reg) {
  for (int i = 0; i < inst.scalarWriteCount; ++i)
    if (reg >= inst.scalarWrites[i].first &&
        reg < inst.scalarWrites[i].first + inst.scalarWrites[i].count)
      return true;
  return false;
}

/// The scalar registers that a rule is about: not every one that the instruction reads.
bool readsFor(u16 consumes, const RegisterRange &range) {
  if (consumes == kLaneSelect)
    return range.operand == 1; // source 0 is the value
  if (consumes == kDivFmas)
    return range.first == kVcc;
  return true;
}

struct Rule {
  u16 produces, consumes;
  u8 need;
  bool vectorOperands; ///< the registers in common are VGPRs, else SGPRs
  const char *text;
};
constexpr Rule kRules[] = {
    {kWritesVector, kMatrixOperand, 2, true, "a matrix operand just written by the VALU"},
    {kWritesVector, kDppSource, 2, true, "a DPP source just written by the VALU"},
    {kWritesVector, kReadsLane, 1, true, "a register just written by the VALU, across lanes"},
    {kTranscendental, kPlainVector, 1, true, "the result of a transcendental instruction"},
    {kWritesPart, kPlainVector, 1, true, "a register of which a part was just written"},
    {kWritesScalar, kMemoryScalar, 5, false, "an SGPR just written by the VALU"},
    {kWritesScalar, kScalarConstant, 2, false, "an SGPR just written by the VALU"},
    {kWritesScalar, kLaneSelect, 4, false, "a lane select just written by the VALU"},
    {kWritesScalar, kDivFmas, 4, false, "VCC just written by the VALU"},
};

} // namespace

void markHazards(Inst &inst) {
  const Row &row = *inst.row;
  bool matrix = row.use == Use::Matrix || row.use == Use::SparseMatrix;
  bool memory = isVectorMemory(row.format);
  if (inst.isVector && !matrix) {
    if (inst.vectorWriteCount)
      inst.produces |= kWritesVector;
    if (isTranscendental(row))
      inst.produces |= kTranscendental;
    // Only results that land above the low bits are late for the next instruction.
    bool high = inst.variant == Variant::Long && row.format != Format::Vop3p &&
                ((inst.opSel & 8) || (row.use == Use::ByteResult && (inst.opSel & 4)));
    bool part = high || (inst.variant == Variant::Sdwa && inst.dstSel != 6);
    if (part)
      inst.produces |= kWritesPart;
    if (inst.scalarWriteCount)
      inst.produces |= kWritesScalar;
    if (writesScalar(inst, kExec))
      inst.produces |= kWritesExec;
    if (!isTranscendental(row))
      inst.consumes |= kPlainVector;
    if (inst.variant == Variant::Dpp)
      inst.consumes |= kDppSource;
    if (inst.scalarReadCount)
      inst.consumes |= kScalarConstant;
    if (row.handler == readLane || row.handler == readFirstLane)
      inst.consumes |= kReadsLane;
    if ((row.handler == readLane || row.handler == writeLane) && inst.scalarReadCount)
      inst.consumes |= kLaneSelect;
    if (row.use == Use::VccIn)
      inst.consumes |= kDivFmas;
  } else if (matrix) {
    inst.consumes |= kMatrixOperand;
  } else if (memory) {
    if (inst.scalarReadCount)
      inst.consumes |= kMemoryScalar;
    if (inst.lds || row.use == Use::LdsDma)
      inst.consumes |= kUsesM0;
  } else if (row.access.addressFromM0()) {
    inst.consumes |= kUsesM0;
  } else if (!inst.isVector && writesScalar(inst, kM0) && row.format != Format::Smem) {
    inst.produces |= kScalarWritesM0;
  }
  for (const Rule &rule : kRules)
    if (inst.consumes & rule.consumes)
      inst.hazardWindow = std::max(inst.hazardWindow, rule.need);
  if (inst.consumes & kDppSource)
    inst.hazardWindow = 5;
  if (matrix)
    inst.hazardWindow = 4;
  if (inst.consumes & kUsesM0)
    inst.hazardWindow = std::max<u8>(inst.hazardWindow, 1);
}

void Machine::checkRecent(Wave &wave, const Inst &inst) {
  for (u64 back = 1; back <= 5 && back < wave.instructions; ++back) {
    const Wave::Issued &issued = wave.recent[(wave.instructions - back) % 8];
    if (!issued.inst || wave.turn - issued.turn - 1 >= inst.hazardWindow)
      return;
    const Inst &producer = *issued.inst;
    if (!producer.produces)
      continue;
    u64 elapsed = wave.turn - issued.turn - 1;
    auto report = [&](const char *what, u64 need) {
      fault(CheckKind::Hazards, wave, inst, -1,
            fmt::format("reads {} {} wait states after {} at {}, which needs {}", what, elapsed,
                        producer.row->name, launch.program->place(producer), need));
    };
    for (const Rule &rule : kRules) {
      if (!(producer.produces & rule.produces) || !(inst.consumes & rule.consumes) ||
          elapsed >= rule.need)
        continue;
      bool common = rule.vectorOperands && shares(producer.vectorWrites, producer.vectorWriteCount,
                                                  inst.vectorReads, inst.vectorReadCount);
      for (int i = 0; !rule.vectorOperands && i < inst.scalarReadCount; ++i)
        common |= readsFor(rule.consumes, inst.scalarReads[i]) &&
                  shares(producer.scalarWrites, producer.scalarWriteCount, &inst.scalarReads[i], 1);
      if (common)
        report(rule.text, rule.need);
    }
    if ((producer.produces & kScalarWritesM0) && (inst.consumes & kUsesM0) && elapsed < 1)
      report("M0 just written by the scalar unit", 1);
    if (producer.produces & kWritesExec) {
      if ((inst.consumes & kDppSource) && elapsed < 5)
        report("EXEC just written by the VALU", 5);
      if ((inst.consumes & kMatrixOperand) && elapsed < 4)
        report("EXEC just written by the VALU", 4);
    }
  }
}

} // namespace wavesmith::emulator
