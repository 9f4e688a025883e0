// The slow path of an instruction that touches a register with a mark: waits, hazards, registers,
// then execution with validity.

#include <algorithm>

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

std::string registerName(const Machine &machine, int reg, bool vector) {
  if (!vector)
    return fmt::format("s{}", reg);
  int accum = machine.launch.program->accumOffset();
  return reg >= accum ? fmt::format("a{}", reg - accum) : fmt::format("v{}", reg);
}

bool covers(const Operand &operand, int reg, bool vector) {
  return operand.kind == (vector ? OperandKind::Vector : OperandKind::Scalar) &&
         reg >= operand.index && reg < operand.index + operand.words;
}

} // namespace

std::string Machine::pendingSource(const Wave &wave, int reg, bool vector) const {
  auto search = [&](const PendingQueue &queue, const char *counter) -> std::string {
    auto &mutableQueue = const_cast<PendingQueue &>(queue);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const Inst &inst = *mutableQueue.at(i).inst;
      if (covers(inst.destination, reg, vector))
        return fmt::format("{} at {} ({} not waited for)", inst.row->name,
                           launch.program->place(inst), counter);
    }
    return {};
  };
  std::string text = vector ? search(wave.vectorMemory, "vmcnt") : "";
  if (text.empty())
    text = vector ? search(wave.ldsQueue, "lgkmcnt") : search(wave.scalarQueue, "lgkmcnt");
  return text;
}

void Machine::checkWaits(Wave &wave, const Inst &inst) {
  const Row &row = *inst.row;
  bool vectorMemory = isVectorMemory(row.format), lds = row.format == Format::Ds;
  auto look = [&](const RegisterRange &range, bool vector, bool write) {
    const u8 *states = vector ? wave.vectorState : wave.scalarState;
    for (int i = 0; i < range.count; ++i) {
      int reg = range.first + i;
      u8 pending = states[reg] & kPendingAny;
      // Operations of one kind complete in order, so a later load may overwrite an earlier one.
      if (write && ((vectorMemory && pending == kPendingVector) || (lds && pending == kPendingLds)))
        continue;
      if (!pending)
        continue;
      fault(CheckKind::Waits, wave, inst, -1,
            fmt::format("{} {}, which is the destination of {}", write ? "overwrites" : "reads",
                        registerName(*this, reg, vector), pendingSource(wave, reg, vector)));
      return;
    }
  };
  for (int i = 0; i < inst.vectorReadCount; ++i)
    look(inst.vectorReads[i], true, false);
  for (int i = 0; i < inst.vectorWriteCount; ++i)
    look(inst.vectorWrites[i], true, true);
  for (int i = 0; i < inst.scalarReadCount; ++i)
    look(inst.scalarReads[i], false, false);
  for (int i = 0; i < inst.scalarWriteCount; ++i)
    look(inst.scalarWrites[i], false, true);
}

void Machine::checkScalarAddress(Wave &wave, const Inst &inst) {
  for (int i = 0; i < inst.scalarReadCount; ++i)
    for (int word = 0; word < inst.scalarReads[i].count; ++word) {
      int reg = inst.scalarReads[i].first + word;
      if (wave.scalarState[reg] & kInvalid)
        fault(CheckKind::Uninitialised, wave, inst, -1,
              fmt::format("{} s{}, which was never fully written",
                          inst.scalarReads[i].operand == 2 ? "stores" : "takes the address from",
                          reg));
    }
}

void Machine::checkedStep(Wave &wave, const Inst &inst, u8 marks) {
  if (!inst.row) {
    inst.handler(*this, wave, inst);
    return;
  }
  if ((marks & kOutside) && checks(CheckKind::Registers)) {
    fault(CheckKind::Registers, wave, inst, -1,
          inst.outsideIndex
              ? fmt::format("M0's index {} leads to v{} of a wave that owns {}",
                            wave.scalar[kM0] & 0xff, inst.outsideIndex,
                            std::min(launch.program->vgprs(), launch.program->accumOffset()))
          : inst.maxVector > launch.program->vgprs()
              ? fmt::format("uses vector register {} of a wave that owns {}", inst.maxVector - 1,
                            launch.program->vgprs())
          : inst.maxScalar > launch.program->sgprs()
              ? fmt::format("uses s{} of a wave that owns {}", inst.maxScalar - 1,
                            launch.program->sgprs())
              : fmt::format("uses v{}, but AGPRs begin at {}", highestVgpr(inst) - 1,
                            launch.program->accumOffset()));
  }
  if ((marks & kPendingAny) && checks(CheckKind::Waits))
    checkWaits(wave, inst);
  if ((marks & kMatrixHazard) && checks(CheckKind::Hazards))
    checkHazards(wave, inst);
  if (!(marks & kInvalid)) {
    inst.handler(*this, wave, inst);
    return;
  }
  // Memory operations carry validity themselves, by lane and byte.
  if (isVectorMemory(inst.row->format) || inst.row->format == Format::Smem ||
      (inst.row->format == Format::Ds && inst.row->use != Use::Exchange)) {
    if (inst.row->format == Format::Smem)
      checkScalarAddress(wave, inst);
    inst.handler(*this, wave, inst);
    return;
  }
  checkDecision(wave, inst);
  stepWithValidity(wave, inst);
  checkDecision(wave, inst);
}

} // namespace wavesmith::emulator
