#include "compiler/lowering/TileStream.h"

#include "compiler/lowering/DmaStream.h"
#include "compiler/lowering/RegisterStream.h"

namespace wavesmith::compiler {

using namespace mlir;

TileStream::TileStream(KernelFrame &frame, const Source &source)
    : frame_(frame), image_(source.image), waits_(source.waits) {
  Emitter &e = frame.emit();
  const WorkUnit &unit = frame.unit();
  begin_.pointer = frame.address(source.base, e.add(unit.kvBegin, unit.kv0), source.rowStride,
                                 unit.kvHead, source.headStride);
  begin_.rowsLeft = e.sub(unit.kv1, unit.kv0);
  rowStride_ = source.rowStride;
  stride_ = e.truncate(rowStride_);
  gap_ = e.sub(stride_, image_.rowBytes);
  step_ = LLVM::MulOp::create(e.builder(), rowStride_, e.constant64(image_.rows));

  // All lane offsets exist before the loop; transfers of one row share theirs.
  SmallVector<Value> firstOf;
  for (const Segment &segment : image_.segments) {
    Value row = e.laneMap(segment.globalRow.wave, frame.groupWave());
    if (!segment.globalRow.lane.empty())
      row = e.add(row, e.laneMap(segment.globalRow.lane, frame.ids().lane));
    Value column = e.laneMap(segment.globalColumn.lane, frame.ids().lane);
    if (!segment.globalColumn.wave.empty())
      column = e.add(column, e.laneMap(segment.globalColumn.wave, frame.groupWave()));
    firstOf.push_back(e.add(e.mul(row, stride_), column));
    reads_.push_back(e.laneMap(segment.read.lane, frame.ids().lane));
  }
  for (const Transfer &transfer : image_.transfers) {
    Value &offset = offsetOfRow_[{transfer.segment, transfer.row}];
    Value first = firstOf[transfer.segment];
    if (!offset)
      offset = transfer.row == 0 ? first : e.add(first, e.mul(stride_, transfer.row));
  }
}

std::unique_ptr<TileStream> TileStream::create(KernelFrame &frame, const Source &source) {
  if (source.image.throughRegisters())
    return std::make_unique<RegisterStream>(frame, source);
  return std::make_unique<DmaStream>(frame, source);
}

std::unique_ptr<TileStream> TileStream::keys(KernelFrame &frame) {
  const KernelArguments &a = frame.arguments();
  return create(frame, {frame.keys(), frame.schedule().keyWaits, a.k, a.kRowStride, a.kHeadStride});
}

std::unique_ptr<TileStream> TileStream::values(KernelFrame &frame) {
  const KernelArguments &a = frame.arguments();
  return create(frame,
                {frame.values(), frame.schedule().valueWaits, a.v, a.vRowStride, a.vHeadStride});
}

SmallVector<int> TileStream::descriptorRows() const {
  SmallVector<int> rows;
  for (const Transfer &transfer : image_.transfers)
    if (!llvm::is_contained(rows, transfer.base))
      rows.push_back(transfer.base);
  return rows;
}

StreamState TileStream::close(const StreamState &state, TileRequest request) {
  return {.cursor = advance(state.cursor), .staged = std::move(request.loaded)};
}

StreamState TileStream::requestTile(const StreamState &state, Value buffer) {
  TileRequest request;
  request.target = target(buffer);
  for (int firstRow : descriptorRows())
    describe(state, firstRow, request);
  for (int index = 0; index < transfers(); ++index)
    transfer(index, request);
  return close(state, std::move(request));
}

StreamCursor TileStream::advance(StreamCursor cursor) {
  Emitter &e = frame_.emit();
  return {e.offset(cursor.pointer, step_), e.sub(cursor.rowsLeft, image_.rows)};
}

void TileStream::describe(const StreamState &state, int firstRow, TileRequest &request) {
  Emitter &e = frame_.emit();
  StreamCursor cursor = state.cursor;
  if (firstRow != 0) {
    Value bytes = LLVM::MulOp::create(e.builder(), rowStride_, e.constant64(firstRow));
    cursor = {e.offset(cursor.pointer, bytes), e.sub(cursor.rowsLeft, firstRow)};
  }
  // min and max exist on the scalar unit, a saturating subtraction does not: a descriptor word in a
  // vector register would turn every access into a loop over lanes.
  Value rows = e.minimum(cursor.rowsLeft, e.constant(image_.rows));
  Value bytes = e.maximum(e.sub(e.mul(rows, stride_), gap_), e.constant(0));
  request.descriptors[firstRow] = e.bufferResource(cursor.pointer, bytes);
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
  const int bytes = image_.readBytes();
  SmallVector<Value> pieces;
  for (int piece : image_.pieces) {
    Value from = e.offset(fragmentBases[fragment.segment], fragment.immediate + piece);
    pieces.push_back(image_.kind == LdsImage::Kind::TransposeReads
                         ? e.loadLdsTransposed(from, bytesOf(frame_.shape().element))
                         : e.loadLds(from, e.vector(bytes / 4, e.i32()), bytes));
  }
  return e.matrixOperands(e.concatenate(pieces), frame_.atom());
}

} // namespace wavesmith::compiler
