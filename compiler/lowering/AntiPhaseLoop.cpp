#include "compiler/lowering/AntiPhaseLoop.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {

constexpr std::pair<int, int> kMostly{1000, 1};

template <typename T> void rotate(SmallVector<T> &values) {
  std::rotate(values.begin(), values.begin() + 1, values.end());
}

} // namespace

SmallVector<Value> LoopState::flatten() const {
  SmallVector<Value> flat(outputs.begin(), outputs.end());
  flat.append(scores);
  flat.append({softmax.rowSum, softmax.bias, stream.cursor.pointer, stream.cursor.rowsLeft, tile});
  flat.append(keyBuffers);
  flat.append(valueBuffers);
  flat.append(stream.staged);
  return flat;
}

LoopState LoopState::rebuilt(ValueRange values) const {
  LoopState other = *this;
  auto next = values.begin();
  auto take = [&](MutableArrayRef<Value> members) {
    for (Value &member : members)
      member = *next++;
  };
  take(other.outputs);
  take(other.scores);
  for (Value *member : {&other.softmax.rowSum, &other.softmax.bias, &other.stream.cursor.pointer,
                        &other.stream.cursor.rowsLeft, &other.tile})
    *member = *next++;
  take(other.keyBuffers);
  take(other.valueBuffers);
  take(other.stream.staged);
  return other;
}

AntiPhaseLoop::AntiPhaseLoop(KernelFrame &frame, QueryFragments &query, TileStream &keys,
                             TileStream &values, ScoreFunctions scoreFunctions)
    : frame_(frame), query_(query), keys_(keys), values_(values),
      scoreFunctions_(std::move(scoreFunctions)), softmax_(frame) {
  if (frame.schedule().rowSum == RowSum::Matrix)
    sumSelector_ = softmax_.sumSelector();
}

LoopState AntiPhaseLoop::emitPrologue(WaveGroup group) {
  Emitter &e = frame_.emit();
  const Schedule &schedule = frame_.schedule();
  LoopState state;
  state.stream = ownStream(group).emitFirstTiles();
  query_.emitOperands();
  e.barrier();

  for (int block = 0; block < frame_.shape().headDimV / frame_.atom().m; ++block)
    state.outputs.push_back(e.zero(e.vector(frame_.atom().accumulatorRegisters, e.f32())));
  state.softmax = softmax_.initial();
  state.tile = e.constant(0);
  for (auto [image, buffers] : {std::pair{&frame_.keys(), &state.keyBuffers},
                                std::pair{&frame_.values(), &state.valueBuffers}})
    for (int buffer = 0; buffer < image->buffers; ++buffer)
      buffers->push_back(e.constant(image->offset + buffer * image->bufferBytes));

  MatrixPhase phase(e, frame_.atom(), schedule.ring, schedule.ring);
  const int scores = addScoreProducts(phase, keys_.fragmentBases(state.keyBuffers.front()));
  phase.prefetch();
  e.schedBarrier();
  phase.emit();
  state.scores = scoresOf(phase, scores);
  rotate(state.keyBuffers);
  if (group == WaveGroup::Values)
    e.barrier();
  return state;
}

LoopState AntiPhaseLoop::emitLoop(WaveGroup group, LoopState state, Value tiles, TileKind kind) {
  Emitter &e = frame_.emit();
  SmallVector<Value> initial = state.flatten();
  SmallVector<Type> types;
  for (Value value : initial)
    types.push_back(value.getType());
  Block *body = e.newBlock(types), *after = e.newBlock(types);
  auto more = [&](const LoopState &at) {
    return e.compare(LLVM::ICmpPredicate::slt, at.tile, tiles);
  };
  if (kind == TileKind::Masked)
    keyLimit_ = frame_.emitKeyLimit();
  e.branchIf(more(state), body, initial, after, initial);

  e.setBlock(body);
  LoopState next = state.rebuilt(body->getArguments());
  emitTile(group, next, kind);
  SmallVector<Value> carried = next.flatten();
  e.branchIf(more(next), body, carried, after, carried, kMostly);

  e.setBlock(after);
  return state.rebuilt(after->getArguments());
}

void AntiPhaseLoop::emitClosing(WaveGroup group) {
  // Tiles past the end are nothing but zeros, yet they must not be written to LDS that already
  // belongs to the next workgroup.
  ownStream(group).drain();
  if (group == WaveGroup::Keys)
    frame_.emit().barrier();
}

SmallVector<Value> AntiPhaseLoop::emitSoftmax(LoopState &state, bool masked) {
  Emitter &e = frame_.emit();
  ScoreTile tile;
  if (masked) {
    Value firstKey = e.add(frame_.unit().kv0, e.mul(state.tile, frame_.schedule().blockN));
    tile.limit = e.sub(keyLimit_, firstKey);
  }
  SmallVector<Value> scores;
  for (Value block : state.scores)
    for (int i = 0; i < frame_.atom().accumulatorRegisters; ++i)
      scores.push_back(e.element(block, i));
  scoreFunctions_.apply(e, tile, scores);
  softmax_.rescaleIfOutgrown(softmax_.tileMaximum(scores), state.softmax, state.outputs);
  return softmax_.probabilities(scores, state.softmax);
}

int AntiPhaseLoop::addRowSum(MatrixPhase &phase, const LoopState &state,
                             ArrayRef<Value> probabilities) {
  const int accumulator = phase.addAccumulator(state.softmax.rowSum);
  for (Value operand : probabilities)
    phase.addProduct(*frame_.rowSumAtom(), sumSelector_, operand, accumulator);
  return accumulator;
}

int AntiPhaseLoop::addOutputProducts(MatrixPhase &phase, const LoopState &state,
                                     SmallVector<Value> valueBases, ArrayRef<Value> probabilities) {
  const int blocks = static_cast<int>(state.outputs.size());
  int last = 0;
  for (Value output : state.outputs)
    last = phase.addAccumulator(output);
  const int first = last + 1 - blocks;
  for (int index = 0; index < values_.fragments(); ++index) {
    const int fragment = phase.addFragment(
        [this, valueBases, index] { return values_.readFragment(valueBases, index); });
    const int parts = values_.operandsPerFragment();
    for (int part = 0; part < parts; ++part)
      phase.addProduct(fragment, part, probabilities[parts * (index / blocks) + part],
                       first + index % blocks);
  }
  return first;
}

int AntiPhaseLoop::addScoreProducts(MatrixPhase &phase, SmallVector<Value> keyBases) {
  const int blocks = frame_.schedule().blockN / frame_.atom().m;
  const int fragmentsOfBlock = keys_.fragments() / blocks, parts = keys_.operandsPerFragment();
  const int first = phase.addAccumulator(nullptr);
  for (int block = 1; block < blocks; ++block)
    phase.addAccumulator(nullptr);
  for (int index = 0; index < keys_.fragments(); ++index) {
    const int fragment =
        phase.addFragment([this, keyBases, index] { return keys_.readFragment(keyBases, index); });
    for (int part = 0; part < parts; ++part)
      phase.addProduct(fragment, part, query_.operand(parts * (index % fragmentsOfBlock) + part),
                       first + index / fragmentsOfBlock);
  }
  return first;
}

SmallVector<Value> AntiPhaseLoop::scoresOf(const MatrixPhase &phase, int first) const {
  SmallVector<Value> scores;
  for (int block = 0; block < frame_.schedule().blockN / frame_.atom().m; ++block)
    scores.push_back(phase.accumulator(first + block));
  return scores;
}

void AntiPhaseLoop::addRequests(MatrixPhase &phase, WaveGroup group, const LoopState &state,
                                StreamState &next) {
  TileStream &own = ownStream(group);
  if (own.requestsInSoftmax()) {
    next = state.stream;
    return;
  }
  // The addresses belong to the softmax phase, which has time for them.
  auto request = std::make_shared<TileRequest>(own.open(state.stream, ownTarget(group, state)));
  const int transfers = own.transfers();
  for (int transfer = 0; transfer < transfers; ++transfer)
    phase.addSideOperation(transfer + 1,
                           [&own, request, transfer] { own.transfer(transfer, *request); });
  phase.addSideOperation(transfers + 2, [&own, request, &state, &next] {
    next = own.close(state.stream, std::move(*request));
  });
}

void AntiPhaseLoop::emitIdleTile(WaveGroup group, LoopState &state) {
  Emitter &e = frame_.emit();
  TileStream &own = ownStream(group);
  auto request = [&] { state.stream = own.requestTile(state.stream, ownTarget(group, state)); };
  if (own.requestsInSoftmax())
    request();
  own.publish(state.stream, ownTarget(group, state));
  own.waitPublished(/*readAhead=*/false);
  e.barrier();
  if (!own.requestsInSoftmax())
    request();
  e.barrier();
  state.tile = e.add(state.tile, 1);
  rotate(state.keyBuffers);
  rotate(state.valueBuffers);
}

void AntiPhaseLoop::emitTile(WaveGroup group, LoopState &state, TileKind kind) {
  if (kind == TileKind::Idle)
    return emitIdleTile(group, state);
  Emitter &e = frame_.emit();
  const Schedule &schedule = frame_.schedule();
  if (ownStream(group).requestsInSoftmax()) {
    state.stream = ownStream(group).requestTile(state.stream, ownTarget(group, state));
    e.schedBarrier();
  }
  SmallVector<Value> probabilities = emitSoftmax(state, kind == TileKind::Masked);
  SmallVector<Value> valueBases = values_.fragmentBases(state.valueBuffers.front());
  SmallVector<Value> keyBases = keys_.fragmentBases(state.keyBuffers.front());
  e.schedBarrier();
  ownStream(group).publish(state.stream, ownTarget(group, state));
  e.schedBarrier();

  MatrixPhase phase(e, frame_.atom(), schedule.ring, schedule.pre);
  // The row sums need no fragment, so they hide the first one's latency.
  std::optional<int> rowSum;
  if (sumSelector_)
    rowSum = addRowSum(phase, state, probabilities);
  const int outputs = addOutputProducts(phase, state, std::move(valueBases), probabilities);
  const int scores = addScoreProducts(phase, std::move(keyBases));
  StreamState stream;
  Value tile;
  addRequests(phase, group, state, stream);
  phase.addSideOperation(ownStream(group).transfers() + 2, [&] { tile = e.add(state.tile, 1); });

  // Reads and priority before the barrier, nothing between it and the first MFMA: whatever stands
  // there is paid by both groups.
  phase.prefetch();
  ownStream(group).waitPublished(/*readAhead=*/true);
  e.setPriority(schedule.matrixPriority);
  e.barrier();
  phase.emit();
  e.barrier();
  e.setPriority(schedule.softmaxPriority);
  // LLVM 22 counts the latch's s_branch, which is not executed, and would leave the first max one
  // wait state short of the last MFMA. Two instructions and the latch stand between them anyway.
  constexpr int kBetween = 5;
  e.nop(frame_.resultStates() - kBetween);
  e.schedBarrier();

  for (auto [index, output] : llvm::enumerate(state.outputs))
    output = phase.accumulator(outputs + static_cast<int>(index));
  if (rowSum)
    state.softmax.rowSum = phase.accumulator(*rowSum);
  state.scores = scoresOf(phase, scores);
  state.stream = stream;
  state.tile = tile;
  rotate(state.keyBuffers);
  rotate(state.valueBuffers);
}

} // namespace wavesmith::compiler
