#include "compiler/lowering/Epilogue.h"

#include <cassert>
#include <limits>
#include <numbers>

#include "compiler/lowering/Saturate.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// Past every descriptor of this file, so the store is dropped.
constexpr int kNowhere = 1 << 30;
/// What one 16-byte store takes.
constexpr std::size_t kRunColumns = 8;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNothing = -kInfinity; ///< logarithm of no weight
} // namespace

Epilogue::Epilogue(KernelFrame &frame) : frame_(frame) {
  Emitter &e = frame_.emit();
  const KernelArguments &a = frame_.arguments();
  const WorkUnit &unit = frame_.unit();
  Value row = e.add(unit.qBegin, unit.q0);
  out_ = frame_.address(a.out, row, a.outRowStride, unit.head, a.outHeadStride);
  if (frame_.shape().writeLse)
    lse_ = frame_.address(a.lse, row, e.constant64(4), unit.head, a.lseHeadStride);
  if (frame_.shape().sink) {
    Value bytes = e.zeroExtend(e.shiftLeft(unit.head, 2));
    auto load = LLVM::LoadOp::create(e.builder(), e.f32(), e.offset(a.sinks, bytes), 4);
    load.setInvariant(true);
    Value counts = e.compare(LLVM::ICmpPredicate::ne, unit.sink, e.constant(0));
    // An infinite weight leaves nothing to divide by, and a merge would take its LSE for "no key".
    Value infinite =
        LLVM::FCmpOp::create(e.builder(), LLVM::FCmpPredicate::oeq, load, e.constant(kInfinity));
    Value logit = e.select(infinite, e.constant(std::numeric_limits<float>::quiet_NaN()), load);
    // LLVM would keep a select of floats in a lane's register, through the loops.
    sink_ = e.readFirstLane(e.select(counts, logit, e.constant(kNothing)));
  }
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

Value Epilogue::reference(const SoftmaxState &state) {
  Emitter &e = frame_.emit();
  // A soft cap leaves its scores half of its range too high: ScoreFunctions.h.
  if (frame_.shape().softCap)
    return e.fma(frame_.scoreScale(), e.constant(0.5f), state.bias);
  return state.bias;
}

Epilogue::Ending Epilogue::endingOf(const SoftmaxState &state) {
  Emitter &e = frame_.emit();
  Value sum = OnlineSoftmax(frame_).total(state);
  Ending ending;
  ending.hasKeys = e.compare(LLVM::ICmpPredicate::ne, e.bitcast(sum, e.i32()), e.constant(0));
  if (sink_) {
    // Weights are 2^(score log2(e) + reference). A sink above the scale of all weights becomes the
    // new reference: its own weight could be past the range of floats.
    Value logit = e.fmul(sink_, e.constant(std::numbers::log2e_v<float>));
    Value bias = reference(state), zero = e.constant(0.0f);
    Value weight = e.fadd(logit, bias);
    // Not Emitter::compare, which may assume that nothing is NaN: a sink may be.
    Value leads = LLVM::FCmpOp::create(e.builder(), LLVM::FCmpPredicate::ogt, weight, zero);
    Value others = e.exp2(e.select(leads, e.fneg(weight), zero));
    ending.sum = e.fma(sum, others, e.exp2(e.select(leads, zero, weight)));
    ending.factor = e.fmul(e.reciprocal(ending.sum), others);
    ending.sinkLeads = leads;
  } else {
    ending.sum = sum;
    ending.factor = e.reciprocal(sum);
  }
  // The sums have the gain, the products of truncated weights lost it.
  if (const double gain = weightGain(frame_.schedule(), frame_.shape().element); gain != 1)
    ending.factor = e.fmul(ending.factor, e.constant(static_cast<float>(gain)));
  if (frame_.outputScale())
    ending.factor = e.fmul(ending.factor, frame_.outputScale());
  return ending;
}

Value Epilogue::logSumExp(const SoftmaxState &state, const Ending &ending) {
  Emitter &e = frame_.emit();
  Value log2 = e.log2(ending.sum), ln2 = e.constant(std::numbers::ln2_v<float>);
  Value log = e.fmul(e.fsub(log2, reference(state)), ln2);
  // Not by way of base 2, in which the largest sinks are infinite.
  if (sink_)
    log = e.select(ending.sinkLeads, e.fma(log2, ln2, sink_), log);
  return e.select(ending.hasKeys, log, sink_ ? sink_ : e.constant(kNothing));
}

SmallVector<Epilogue::Run> Epilogue::normalise(ArrayRef<Value> outputs, const Ending &ending) {
  Emitter &e = frame_.emit();
  Value zero = e.constant(0.0f);
  SmallVector<Run> runs;
  for (const auto &[column, place] : placesOfColumns()) {
    const bool follows =
        !runs.empty() && column == runs.back().column + static_cast<int>(runs.back().values.size());
    if (!follows || runs.back().values.size() == kRunColumns)
      runs.push_back({.values = {}, .column = column});
    Run &run = runs.back();
    Value value = e.fmul(e.element(outputs[place.block], place.accumulator), ending.factor);
    // Not by multiplication: a masked key's NaN would pass it.
    run.values.push_back(e.select(ending.hasKeys, value, zero));
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
    SmallVector<Value> values(run.values), words;
    if (frame_.shape().output == ElementType::F16)
      llvm::transform(run.values, values.begin(),
                      [&](Value a) { return saturateToF16(e.builder(), a); });
    for (std::size_t i = 0; i < values.size(); i += 2)
      words.push_back(
          e.packHalves(frame_.shape().output, values[i], values[i + 1], PRounding::NearestEven));
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
  // What stands here may overwrite the last MFMA's registers, behind a barrier, a priority and two
  // branches. LLVM 22 looks back 19 wait states, of the 20 that gfx950's sixteen passes need.
  if (constexpr int kLookedBack = 19; frame_.resultStates() > kLookedBack) {
    e.schedBarrier();
    e.nop(frame_.resultStates() - 5);
    e.schedBarrier();
  }
  ids_ = frame_.emitIdsAgain();
  const Ending ending = endingOf(state);
  SmallVector<Run> runs = normalise(outputs, ending);
  Value lse = logSumExp(state, ending);
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
