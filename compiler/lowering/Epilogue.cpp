#include "compiler/lowering/Epilogue.h"

#include <cassert>
#include <limits>
#include <numbers>

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// Past every descriptor of this file, so the store is dropped.
constexpr int kNowhere = 1 << 30;
/// What one 16-byte store of bf16 takes.
constexpr std::size_t kRunColumns = 8;
} // namespace

Epilogue::Epilogue(KernelFrame &frame) : frame_(frame) {
  Emitter &e = frame_.emit();
  const KernelArguments &a = frame_.arguments();
  const WorkUnit &unit = frame_.unit();
  Value row = e.add(unit.qBegin, unit.q0);
  out_ = frame_.address(a.out, row, a.outRowStride, unit.head, a.outHeadStride);
  if (frame_.shape().writeLse)
    lse_ = frame_.address(a.lse, row, e.constant64(4), unit.head, a.lseHeadStride);
  if (!frame_.shape().splitKv)
    return;
  auto slotBase = [&](Value base, int rowBytes) {
    Value bytes = e.constant64(std::int64_t{frame_.schedule().blockM} * rowBytes);
    return e.offset(base,
                    LLVM::MulOp::create(e.builder(), e.signExtend(unit.slot), bytes).getResult());
  };
  isPartial_ = e.compare(LLVM::ICmpPredicate::sge, unit.slot, e.constant(0));
  out_ = e.select(isPartial_, slotBase(a.partialOut, frame_.shape().headDimV * 4), out_);
  Value partialLse = slotBase(a.partialLse, 4);
  lse_ = lse_ ? e.select(isPartial_, partialLse, lse_) : partialLse;
}

SmallVector<Epilogue::Run> Epilogue::normalise(ArrayRef<Value> outputs, Value rowSum) {
  Emitter &e = frame_.emit();
  Value hasKeys = e.compare(LLVM::ICmpPredicate::ne, e.bitcast(rowSum, e.i32()), e.constant(0));
  Value factor = e.reciprocal(rowSum), zero = e.constant(0.0f);
  if (frame_.outputScale())
    factor = e.fmul(factor, frame_.outputScale());
  SmallVector<Run> runs;
  for (const auto &[column, place] : placesOfColumns()) {
    const bool follows =
        !runs.empty() && column == runs.back().column + static_cast<int>(runs.back().values.size());
    if (!follows || runs.back().values.size() == kRunColumns)
      runs.push_back({.values = {}, .column = column});
    Run &run = runs.back();
    Value value = e.fmul(e.element(outputs[place.block], place.accumulator), factor);
    // Not by multiplication: a masked key's NaN would pass it.
    run.values.push_back(e.select(hasKeys, value, zero));
  }
  return runs;
}

int Epilogue::columnOf(Place place, int half) const {
  return frame_.values().column.evaluate(frame_.atom().accumulatorRow(place.accumulator, half),
                                         place.block);
}

std::map<int, Epilogue::Place> Epilogue::placesOfColumns() const {
  std::map<int, Place> places;
  for (int block = 0; block < frame_.shape().headDimV / frame_.atom().m; ++block)
    for (int i = 0; i < frame_.atom().accumulatorRegisters; ++i) {
      const Place place{block, i};
      assert(columnOf(place, 1) - columnOf(place, 0) == halfColumns());
      places[columnOf(place, 0)] = place;
    }
  return places;
}

Value Epilogue::logSumExp(const SoftmaxState &state, Value rowSum) {
  Emitter &e = frame_.emit();
  Value hasKeys = e.compare(LLVM::ICmpPredicate::ne, e.bitcast(rowSum, e.i32()), e.constant(0));
  Value log2 = e.fsub(e.log2(rowSum), state.bias);
  return e.select(hasKeys, e.fmul(log2, e.constant(std::numbers::ln2_v<float>)),
                  e.constant(-std::numeric_limits<float>::infinity()));
}

void Epilogue::storeLse(Value value) {
  Emitter &e = frame_.emit();
  Value rows = e.maximum(frame_.unitRows(), e.constant(0));
  Value resource = e.bufferResource(lse_, e.shiftLeft(rows, 2));
  Value first = e.compare(LLVM::ICmpPredicate::eq, ids_.half, e.constant(0));
  Value bytes = e.select(first, e.shiftLeft(ids_.unitRow, 2), e.constant(kNowhere));
  e.bufferStore(value, resource, bytes);
}

void Epilogue::storeFinal(ArrayRef<Run> runs, Value lse) {
  Emitter &e = frame_.emit();
  Value rowStride = frame_.arguments().outRowStride;
  Value resource = e.bufferResource(
      out_, frame_.extent(frame_.unitRows(), rowStride, frame_.shape().headDimV * 2));
  Value bytes =
      e.add(e.mul(ids_.unitRow, e.truncate(rowStride)), e.mul(ids_.half, 2 * halfColumns()));
  for (const Run &run : runs) {
    SmallVector<Value> words;
    for (std::size_t i = 0; i < run.values.size(); i += 2)
      words.push_back(e.packBf16(run.values[i], run.values[i + 1], PRounding::NearestEven));
    e.bufferStore(e.packVector(words), resource, e.add(bytes, 2 * run.column));
  }
  if (frame_.shape().writeLse)
    storeLse(lse);
}

void Epilogue::storePartial(ArrayRef<Run> runs, Value lse) {
  Emitter &e = frame_.emit();
  const int rowBytes = frame_.shape().headDimV * 4;
  Value resource =
      e.bufferResource(out_, e.maximum(e.mul(frame_.unitRows(), rowBytes), e.constant(0)));
  Value bytes = e.add(e.mul(ids_.unitRow, rowBytes), e.mul(ids_.half, 4 * halfColumns()));
  for (const Run &run : runs)
    for (int quad = 0; quad < static_cast<int>(run.values.size()); quad += 4)
      e.bufferStore(e.packVector(ArrayRef<Value>(run.values).slice(quad, 4)), resource,
                    e.add(bytes, 4 * (run.column + quad)));
  storeLse(lse);
}

void Epilogue::emit(ArrayRef<Value> outputs, const SoftmaxState &state) {
  Emitter &e = frame_.emit();
  ids_ = frame_.emitIdsAgain();
  Value rowSum = OnlineSoftmax(frame_).total(state);
  SmallVector<Run> runs = normalise(outputs, rowSum);
  Value lse = logSumExp(state, rowSum);
  if (!frame_.shape().splitKv) {
    storeFinal(runs, lse);
    return;
  }
  Block *partial = e.newBlock({}), *whole = e.newBlock({}), *next = e.newBlock({});
  e.branchIf(isPartial_, partial, {}, whole, {});
  e.setBlock(partial);
  storePartial(runs, lse);
  e.branch(next, {});
  e.setBlock(whole);
  storeFinal(runs, lse);
  e.branch(next, {});
  e.setBlock(next);
}

} // namespace wavesmith::compiler
