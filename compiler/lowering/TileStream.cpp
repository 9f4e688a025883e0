#include "compiler/lowering/TileStream.h"

namespace wavesmith::compiler {

using namespace mlir;

TileStream::TileStream(KernelFrame &frame, const LdsImage &image, Value base, Value rowStride,
                       Value headStride)
    : frame_(frame), image_(image) {
  Emitter &e = frame.emit();
  const WorkUnit &unit = frame.unit();
  begin_.pointer =
      frame.address(base, e.add(unit.kvBegin, unit.kv0), rowStride, unit.kvHead, headStride);
  begin_.rowsLeft = e.sub(unit.kv1, unit.kv0);
  stride_ = e.truncate(rowStride);
  gap_ = e.sub(stride_, image.rowBytes);
  step_ = LLVM::MulOp::create(e.builder(), rowStride, e.constant64(image.rows));

  row_ = e.laneMap(image.globalRow.wave, frame.groupWave());
  if (!image.globalRow.lane.empty())
    row_ = e.add(row_, e.laneMap(image.globalRow.lane, frame.lane()));
  column_ = e.laneMap(image.globalColumn.lane, frame.lane());
  read_ = e.laneMap(image.read.lane, frame.lane());
  // All lane offsets exist before the loop; transfers of one row share theirs.
  Value first = e.add(e.mul(row_, stride_), column_);
  for (const Transfer &transfer : image.transfers) {
    Value &offset = offsetOfRow_[transfer.row];
    if (!offset)
      offset = transfer.row == 0 ? first : e.add(first, e.mul(stride_, transfer.row));
  }
}

StreamCursor TileStream::advance(StreamCursor cursor) {
  Emitter &e = frame_.emit();
  return {e.offset(cursor.pointer, step_), e.sub(cursor.rowsLeft, image_.rows)};
}

Value TileStream::descriptor(StreamCursor cursor) {
  Emitter &e = frame_.emit();
  // min and max exist on the scalar unit, a saturating subtraction does not: a descriptor word in a
  // vector register would turn every access into a loop over lanes.
  Value rows = e.minimum(cursor.rowsLeft, e.constant(image_.rows));
  Value bytes = e.maximum(e.sub(e.mul(rows, stride_), gap_), e.constant(0));
  return e.bufferResource(cursor.pointer, bytes);
}

Value TileStream::laneOffset(int transfer) {
  return offsetOfRow_.lookup(image_.transfers[transfer].row);
}

Value TileStream::fragmentBase(Value bufferOffset) {
  Emitter &e = frame_.emit();
  return e.offset(frame_.lds(), e.add(read_, bufferOffset));
}

int TileStream::operandsPerFragment() const {
  return image_.fragmentBytes / (4 * frame_.atom().operandRegisters);
}

SmallVector<Value> TileStream::readFragment(Value fragmentBase, int index) {
  Emitter &e = frame_.emit();
  Value bytes = e.loadLds(e.offset(fragmentBase, image_.readImmediate[index]),
                          e.vector(image_.fragmentBytes / 4, e.i32()), image_.fragmentBytes);
  return e.matrixOperands(bytes, frame_.atom());
}

} // namespace wavesmith::compiler
