#include "compiler/lowering/Epilogue.h"

#include <limits>
#include <numbers>

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// Past every descriptor of this file, so the store is dropped.
constexpr int kNowhere = 1 << 30;
} // namespace

SmallVector<Epilogue::Run> Epilogue::normalise(ArrayRef<Value> outputs, Value rowSum) {
  Emitter &e = frame_.emit();
  Value hasKeys = e.compare(LLVM::ICmpPredicate::ne, e.bitcast(rowSum, e.i32()), e.constant(0));
  Value inverse = e.reciprocal(rowSum), zero = e.constant(0.0f);
  SmallVector<Run> runs;
  const int registers = frame_.atom().accumulatorRegisters;
  // Blocks 2b and 2b + 1 hold the even and the odd columns of the same 64.
  for (std::size_t pair = 0; pair < outputs.size() / 2; ++pair)
    for (int group = 0; group < registers / 4; ++group) {
      Run run;
      run.column = static_cast<int>(64 * pair) + 16 * group;
      for (int row = 0; row < 4; ++row)
        for (int odd : {0, 1}) {
          Value value = e.fmul(e.element(outputs[2 * pair + odd], 4 * group + row), inverse);
          // Not by multiplication: a masked key's NaN would pass it.
          run.values.push_back(e.select(hasKeys, value, zero));
        }
      runs.push_back(std::move(run));
    }
  return runs;
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
  Value bytes =
      e.add(e.mul(frame_.unitRow(), e.truncate(a.outRowStride)), e.shiftLeft(frame_.half(), 4));
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
  Value bytes = e.add(e.mul(frame_.unitRow(), rowBytes), e.shiftLeft(frame_.half(), 5));
  for (const Run &run : runs)
    for (int quad : {0, 4})
      e.bufferStore(e.packVector(ArrayRef<Value>(run.values).slice(quad, 4)), resource,
                    e.add(bytes, 4 * (run.column + quad)));
  storeRowValue(lse, slotBase(a.partialLse, rows * 4));
}

void Epilogue::emit(ArrayRef<Value> outputs, const SoftmaxState &state) {
  Emitter &e = frame_.emit();
  Value rowSum = e.fadd(state.rowSum, e.exchange(frame_.partner(), state.rowSum));
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
