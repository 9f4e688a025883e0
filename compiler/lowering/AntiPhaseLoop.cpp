#include "compiler/lowering/AntiPhaseLoop.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {

constexpr std::pair<int, int> kMostly{1000, 1};

} // namespace

SmallVector<Value> LoopState::flatten() const {
  SmallVector<Value> flat(outputs.begin(), outputs.end());
  flat.append(scores);
  flat.append({softmax.rowSum, softmax.bias, stream.cursor.pointer, stream.cursor.rowsLeft, tile,
               keyBuffer, valueBuffer});
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
  for (Value *member :
       {&other.softmax.rowSum, &other.softmax.bias, &other.stream.cursor.pointer,
        &other.stream.cursor.rowsLeft, &other.tile, &other.keyBuffer, &other.valueBuffer})
    *member = *next++;
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
  state.keyBuffer = e.constant(frame_.keys().offset + frame_.keys().bufferBytes);
  state.valueBuffer = e.constant(frame_.values().offset);

  MatrixPhase phase(e, frame_.atom(), schedule.ring, schedule.ring);
  const int scores = addScoreProducts(phase, keys_.fragmentBases(e.constant(frame_.keys().offset)));
  phase.prefetch();
  e.schedBarrier();
  phase.emit();
  state.scores = scoresOf(phase, scores);
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
    rowKeys_ = frame_.emitRowKeys();
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

SmallVector<Value> AntiPhaseLoop::emitSoftmax(LoopState &state, bool masked,
                                              function_ref<void()> halfway) {
  Emitter &e = frame_.emit();
  ScoreTile tile;
  if (masked) {
    Value firstKey = e.add(frame_.unit().kv0, e.mul(state.tile, frame_.schedule().blockN));
    if (rowKeys_.floor) {
      tile.floor = e.sub(rowKeys_.floor, firstKey);
      tile.count = rowKeys_.count;
    } else {
      tile.limit = e.sub(rowKeys_.limit, firstKey);
    }
  }
  SmallVector<Value> scores;
  for (Value block : state.scores)
    for (int i = 0; i < frame_.atom().accumulatorRegisters; ++i)
      scores.push_back(e.element(block, i));
  scoreFunctions_.apply(e, tile, scores);
  softmax_.rescaleIfOutgrown(softmax_.tileMaximum(scores), state.softmax, state.outputs);
  return softmax_.probabilities(scores, state.softmax, halfway);
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

Value AntiPhaseLoop::following(const LdsImage &image, Value buffer) {
  Emitter &e = frame_.emit();
  Value last = e.constant(image.offset + (image.buffers - 1) * image.bufferBytes);
  return e.select(e.compare(LLVM::ICmpPredicate::eq, buffer, last), e.constant(image.offset),
                  e.add(buffer, image.bufferBytes));
}

Value AntiPhaseLoop::preceding(const LdsImage &image, Value buffer) {
  Emitter &e = frame_.emit();
  Value last = e.constant(image.offset + (image.buffers - 1) * image.bufferBytes);
  return e.select(e.compare(LLVM::ICmpPredicate::eq, buffer, e.constant(image.offset)), last,
                  e.sub(buffer, image.bufferBytes));
}

Value AntiPhaseLoop::ownTarget(WaveGroup group, const LoopState &state) {
  return group == WaveGroup::Keys ? preceding(frame_.keys(), state.keyBuffer)
                                  : preceding(frame_.values(), state.valueBuffer);
}

int AntiPhaseLoop::statesBeforeSoftmax() const {
  // Two instructions and the latch; and what goes on with the last MFMAs.
  constexpr int kBetween = 5, kRingUpdates = 3;
  const int blocks = frame_.schedule().blockN / frame_.atom().m;
  // Behind a block's products stand those of the blocks after it, each with its fragment's wait;
  // before its own maxima those of the blocks before it: chains of two scores an instruction, from
  // the second on, and what is left over goes with the last block.
  const int instructions = frame_.shape().headDimQk / frame_.atom().k + keys_.fragments() / blocks;
  const int chains = frame_.schedule().maxChains;
  int states = 0;
  for (int block = 0; block < blocks; ++block) {
    const int scores = block * frame_.atom().accumulatorRegisters / chains;
    // A soft cap takes all scores before the first maximum.
    const int maxima = frame_.shape().softCap ? 0 : chains * std::max(0, (scores - 1) / 2);
    const int behind = (blocks - 1 - block) * instructions;
    states = std::max(states, frame_.resultStates() - kBetween - behind -
                                  std::min(behind, kRingUpdates) - maxima);
  }
  return states;
}

void AntiPhaseLoop::addRequests(MatrixPhase &phase, WaveGroup group, const LoopState &state,
                                StreamState &next) {
  TileStream &own = ownStream(group);
  if (own.requestsInSoftmax()) {
    next = state.stream;
    return;
  }
  auto request = std::make_shared<TileRequest>();
  SmallVector<std::function<void()>> addresses;
  addresses.push_back([this, &own, group, request, &state] {
    request->target = own.target(ownTarget(group, state));
  });
  for (int firstRow : own.descriptorRows())
    addresses.push_back(
        [&own, firstRow, request, &state] { own.describe(state.stream, firstRow, *request); });
  // They belong to the softmax phase, unless the vector ALU is the bound, which is when the matrix
  // core adds up the rows.
  int slot = 0;
  for (const std::function<void()> &address : addresses)
    if (sumSelector_)
      phase.addSideOperation(++slot, address);
    else
      address();
  for (int transfer = 0; transfer < own.transfers(); ++transfer)
    phase.addSideOperation(++slot, [&own, request, transfer] { own.transfer(transfer, *request); });
  phase.addSideOperation(++slot, [&own, request, &state, &next] {
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
  state.keyBuffer = following(frame_.keys(), state.keyBuffer);
  state.valueBuffer = following(frame_.values(), state.valueBuffer);
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
  auto publish = [&] {
    e.schedBarrier();
    ownStream(group).publish(state.stream, ownTarget(group, state));
    e.schedBarrier();
  };
  // At the end, to give memory time; where the vector ALU is the bound, the wait for LDS counts.
  const bool publishes = ownStream(group).throughRegisters();
  const bool early = publishes && sumSelector_;
  function_ref<void()> halfway = nullptr;
  if (early)
    halfway = publish;
  SmallVector<Value> probabilities = emitSoftmax(state, kind == TileKind::Masked, halfway);
  SmallVector<Value> valueBases = values_.fragmentBases(state.valueBuffer);
  SmallVector<Value> keyBases = keys_.fragmentBases(state.keyBuffer);
  e.schedBarrier();
  if (publishes && !early)
    publish();

  MatrixPhase phase(e, frame_.atom(), schedule.ring, schedule.pre);
  // The row sums need no fragment, so they hide the first one's latency.
  std::optional<int> rowSum;
  if (sumSelector_)
    rowSum = addRowSum(phase, state, probabilities);
  const int outputs = addOutputProducts(phase, state, std::move(valueBases), probabilities);
  const int scores = addScoreProducts(phase, std::move(keyBases));
  LoopState next = state;
  addRequests(phase, group, state, next.stream);
  // Late, when no fragments are asked for any more, and each in a slot of its own.
  const int last = phase.products() - 1;
  phase.addSideOperation(last - 1, [&] { next.tile = e.add(state.tile, 1); });
  phase.addSideOperation(last - 2,
                         [&] { next.keyBuffer = following(frame_.keys(), state.keyBuffer); });
  phase.addSideOperation(last - 3,
                         [&] { next.valueBuffer = following(frame_.values(), state.valueBuffer); });

  // Reads and priority before the barrier, nothing between it and the first MFMA: whatever stands
  // there is paid by both groups.
  phase.prefetch();
  ownStream(group).waitPublished(/*readAhead=*/true);
  e.setPriority(schedule.matrixPriority);
  e.barrier();
  phase.emit();
  e.barrier();
  e.setPriority(schedule.softmaxPriority);
  // Explicit, since LLVM 22 counts the latch's s_branch, which is not executed, and would leave the
  // first max one wait state short of the last MFMA.
  if (const int states = statesBeforeSoftmax(); states > 0)
    e.nop(states);
  e.schedBarrier();

  for (auto [index, output] : llvm::enumerate(next.outputs))
    output = phase.accumulator(outputs + static_cast<int>(index));
  if (rowSum)
    next.softmax.rowSum = phase.accumulator(*rowSum);
  next.scores = scoresOf(phase, scores);
  state = std::move(next);
}

} // namespace wavesmith::compiler
