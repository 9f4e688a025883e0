#include "compiler/lowering/QueryFragments.h"

namespace wavesmith::compiler {

using namespace mlir;

QueryFragments::QueryFragments(KernelFrame &frame) : frame_(frame) {
  Emitter &e = frame.emit();
  const KernelArguments &a = frame.arguments();
  const WorkUnit &unit = frame.unit();
  const int rowBytes = frame.shape().headDimQk * bytesOf(frame.shape().element);
  // Rebased at the unit's first row in 64 bits, so that lane offsets stay below 1 GiB.
  Value base =
      frame.address(a.q, e.add(unit.qBegin, unit.q0), a.qRowStride, unit.head, a.qHeadStride);
  Value resource = e.bufferResource(base, frame.extent(frame.unitRows(), a.qRowStride, rowBytes));
  Value row =
      e.add(e.mul(frame.ids().unitRow, e.truncate(a.qRowStride)), e.shiftLeft(frame.ids().half, 4));
  for (int chunk = 0; chunk < rowBytes / 32; ++chunk)
    chunks_.push_back(e.bufferLoad(e.vector(4, e.i32()), resource, e.add(row, 32 * chunk)));
}

void QueryFragments::emitOperands() {
  operands_.clear();
  Emitter &e = frame_.emit();
  const MfmaAtom &atom = frame_.atom();
  const std::size_t perOperand = std::max(1, 4 * atom.operandRegisters / 16);
  for (ArrayRef<Value> chunks = chunks_; !chunks.empty(); chunks = chunks.drop_front(perOperand))
    operands_.append(e.matrixOperands(e.concatenate(chunks.take_front(perOperand)), atom));
}

} // namespace wavesmith::compiler
