// The wait counters: which operations a wait completes, and the pending marks of registers.

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {

void Machine::markPending(Wave &wave, const Inst &inst, u8 bit) {
  const Operand &to = inst.destination;
  if (to.kind == OperandKind::Vector) {
    for (int i = 0; i < to.words; ++i) {
      wave.vectorState[to.index + i] |= bit;
      ++wave.vectorPending[bit == kPendingLds][to.index + i];
    }
  } else if (to.kind == OperandKind::Scalar) {
    for (int i = 0; i < to.words; ++i)
      wave.scalarState[to.index + i] |= bit;
  }
}

void Machine::clearPending(Wave &wave, const Inst &inst, u8 bit) {
  const Operand &to = inst.destination;
  if (to.kind == OperandKind::Vector) {
    for (int i = 0; i < to.words; ++i)
      if (--wave.vectorPending[bit == kPendingLds][to.index + i] == 0)
        wave.vectorState[to.index + i] &= static_cast<u8>(~bit);
  } else if (to.kind == OperandKind::Scalar) {
    for (int i = 0; i < to.words; ++i)
      wave.scalarState[to.index + i] &= static_cast<u8>(~bit);
  }
}

void Machine::waitVector(Wave &wave, unsigned outstanding) {
  while (wave.vectorMemory.size() > outstanding) {
    PendingOp &op = wave.vectorMemory.front();
    landVector(wave, op);
    wave.vectorDone = op.sequence;
    clearPending(wave, *op.inst, kPendingVector);
    wave.vectorMemory.pop();
  }
}

void Machine::waitLds(Wave &wave, unsigned outstanding) {
  // Scalar loads finish in any order: only zero guarantees them. They may all be among those that
  // are done, so they never make the guarantee for LDS operations stronger.
  if (outstanding == 0) {
    while (wave.scalarQueue.size()) {
      PendingOp &op = wave.scalarQueue.front();
      landScalar(wave, op);
      clearPending(wave, *op.inst, kPendingScalar);
      wave.scalarQueue.pop();
    }
  }
  while (wave.ldsQueue.size() > outstanding) {
    PendingOp &op = wave.ldsQueue.front();
    landLds(wave, op);
    wave.ldsDone = op.sequence;
    clearPending(wave, *op.inst, kPendingLds);
    wave.ldsQueue.pop();
  }
}

void Machine::waitAll(Wave &wave) {
  waitVector(wave, 0);
  waitLds(wave, 0);
}

} // namespace wavesmith::emulator
