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

SmallVector<Epilogue::Run> Epilogue::normalise(ArrayRef<Value> outputs, Value rowSum) {
  Emitter &e = frame_.emit();
  Value hasKeys = e.compare(LLVM::ICmpPredicate::ne, e.bitcast(rowSum, e.i32()), e.constant(0));
  Value inverse = e.reciprocal(rowSum), zero = e.constant(0.0f);
  SmallVector<Run> runs;
  for (const auto &[column, place] : placesOfColumns()) {
    if (runs.empty() || runs.back().values.size() == kRunColumns)
      runs.push_back({.values = {}, .column = column});
    Run &run = runs.back();
    assert(column == run.column + static_cast<int>(run.values.size()) && "columns in whole runs");
    Value value = e.fmul(e.element(outputs[place.block], place.accumulator), inverse);
    // Not by multiplication: a masked key's NaN would pass it.
    run.values.push_back(e.select(hasKeys, value, zero));
  }
  return runs;
}

int Epilogue::columnOf(Place place, int half) const {
  const int i = place.accumulator;
  return frame_.values().column.evaluate(8 * (i / 4) + 4 * half + i % 4, place.block);
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

void Epilogue::storeRowValue(Value value, Value base) {
  Emitter &e = frame_.emit();
  Value rows = e.maximum(frame_.unitRows(), e.constant(0));
  Value resource = e.bufferResource(base, e.shiftLeft(rows, 2));
  Value first = e.compare(LLVM::ICmpPredicate::eq, frame_.half(), e.constant(0));
  Value bytes = e.select(first, e.shiftLeft(frame_.unitRow(), 2), e.constant(kNowhere));
  e.bufferStore(value, resource, bytes);
}

void Epilogue::storeFinal(ArrayRef<Run> runs, Value lse) {
  Emitter &e = frame_.emit();
  const KernelArguments &a = frame_.arguments();
  const WorkUnit &unit = frame_.unit();
  Value row = e.add(unit.qBegin, unit.q0);
  Value base = frame_.address(a.out, row, a.outRowStride, unit.head, a.outHeadStride);
  Value resource = e.bufferResource(
      base, frame_.extent(frame_.unitRows(), a.outRowStride, frame_.shape().headDimV * 2));
  Value bytes = e.add(e.mul(frame_.unitRow(), e.truncate(a.outRowStride)),
                      e.mul(frame_.half(), 2 * halfColumns()));
  for (const Run &run : runs) {
    SmallVector<Value> words;
    for (std::size_t i = 0; i < run.values.size(); i += 2)
      words.push_back(e.packBf16(run.values[i], run.values[i + 1], PRounding::NearestEven));
    e.bufferStore(e.packVector(words), resource, e.add(bytes, 2 * run.column));
  }
  if (frame_.shape().writeLse)
    storeRowValue(lse, frame_.address(a.lse, row, e.constant64(4), unit.head, a.lseHeadStride));
}

void Epilogue::storePartial(ArrayRef<Run> runs, Value lse) {
  Emitter &e = frame_.emit();
  const KernelArguments &a = frame_.arguments();
  const int rowBytes = frame_.shape().headDimV * 4, rows = frame_.schedule().blockM;
  auto slotBase = [&](Value base, int bytes) {
    Value offset =
        LLVM::MulOp::create(e.builder(), e.signExtend(frame_.unit().slot), e.constant64(bytes));
    return e.offset(base, offset);
  };
  Value resource = e.bufferResource(slotBase(a.partialOut, rows * rowBytes),
                                    e.maximum(e.mul(frame_.unitRows(), rowBytes), e.constant(0)));
  Value bytes = e.add(e.mul(frame_.unitRow(), rowBytes), e.mul(frame_.half(), 4 * halfColumns()));
  for (const Run &run : runs)
    for (int quad : {0, 4})
      e.bufferStore(e.packVector(ArrayRef<Value>(run.values).slice(quad, 4)), resource,
                    e.add(bytes, 4 * (run.column + quad)));
  storeRowValue(lse, slotBase(a.partialLse, rows * 4));
}

void Epilogue::emit(ArrayRef<Value> outputs, const SoftmaxState &state) {
  Emitter &e = frame_.emit();
  auto [one, other] = e.withPartner(frame_.partner(), state.rowSum);
  Value rowSum = e.fadd(one, other);
  SmallVector<Run> runs = normalise(outputs, rowSum);
  Value lse = logSumExp(state, rowSum);
  if (!frame_.shape().splitKv) {
    storeFinal(runs, lse);
    return;
  }
  Block *partial = e.newBlock({}), *whole = e.newBlock({}), *next = e.newBlock({});
  Value isPartial = e.compare(LLVM::ICmpPredicate::sge, frame_.unit().slot, e.constant(0));
  e.branchIf(isPartial, partial, {}, whole, {});
  e.setBlock(partial);
  storePartial(runs, lse);
  e.branch(next, {});
  e.setBlock(whole);
  storeFinal(runs, lse);
  e.branch(next, {});
  e.setBlock(next);
}

} // namespace wavesmith::compiler
