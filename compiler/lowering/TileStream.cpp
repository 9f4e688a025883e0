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

  // All lane offsets exist before the loop; transfers of one row share theirs.
  SmallVector<Value> firstOf;
  for (const Segment &segment : image.segments) {
    Value row = e.laneMap(segment.globalRow.wave, frame.groupWave());
    if (!segment.globalRow.lane.empty())
      row = e.add(row, e.laneMap(segment.globalRow.lane, frame.lane()));
    firstOf.push_back(
        e.add(e.mul(row, stride_), e.laneMap(segment.globalColumn.lane, frame.lane())));
    reads_.push_back(e.laneMap(segment.read.lane, frame.lane()));
  }
  for (const Transfer &transfer : image.transfers) {
    Value &offset = offsetOfRow_[{transfer.segment, transfer.row}];
    Value first = firstOf[transfer.segment];
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
  const Transfer &piece = image_.transfers[transfer];
  return offsetOfRow_.lookup({piece.segment, piece.row});
}

SmallVector<Value> TileStream::fragmentBases(Value bufferOffset) {
  Emitter &e = frame_.emit();
  SmallVector<Value> bases;
  for (Value read : reads_)
    bases.push_back(e.offset(frame_.lds(), e.add(read, bufferOffset)));
  return bases;
}

int TileStream::operandsPerFragment() const {
  return image_.fragmentBytes / (4 * frame_.atom().operandRegisters);
}

SmallVector<Value> TileStream::readFragment(ArrayRef<Value> fragmentBases, int index) {
  Emitter &e = frame_.emit();
  const Fragment &fragment = image_.fragments[index];
  Value address = e.offset(fragmentBases[fragment.segment], fragment.immediate);
  Value bytes =
      e.loadLds(address, e.vector(image_.fragmentBytes / 4, e.i32()), image_.fragmentBytes);
  return e.matrixOperands(bytes, frame_.atom());
}

} // namespace wavesmith::compiler
