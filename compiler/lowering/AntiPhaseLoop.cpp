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
  flat.append({softmax.rowSum, softmax.bias, cursor.pointer, cursor.rowsLeft, tile});
  flat.append(keyBuffers);
  flat.append(valueBuffers);
  flat.append(staged);
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
  for (Value *member : {&other.softmax.rowSum, &other.softmax.bias, &other.cursor.pointer,
                        &other.cursor.rowsLeft, &other.tile})
    *member = *next++;
  take(other.keyBuffers);
  take(other.valueBuffers);
  take(other.staged);
  return other;
}

AntiPhaseLoop::AntiPhaseLoop(KernelFrame &frame, QueryFragments &query, KeyStream &keys,
                             ValueStream &values, ScoreFunctions scoreFunctions)
    : frame_(frame), query_(query), keys_(keys), values_(values),
      scoreFunctions_(std::move(scoreFunctions)), softmax_(frame) {}

LoopState AntiPhaseLoop::emitPrologue(WaveGroup group) {
  Emitter &e = frame_.emit();
  const Schedule &schedule = frame_.schedule();
  LoopState state;
  if (group == WaveGroup::Keys) {
    state.cursor = keys_.begin();
    for (int buffer = 0; buffer < schedule.kBuffers; ++buffer) {
      keys_.emitTile(state.cursor, e.constant(frame_.keyBuffer(buffer)));
      state.cursor = keys_.advance(state.cursor);
    }
    e.waitVectorMemory(keys_.transfers() * (schedule.kBuffers - 1));
  } else {
    state.cursor = values_.begin();
    SmallVector<Value> first;
    for (SmallVector<Value> *tile : {&first, &state.staged}) {
      *tile = values_.loadTile(state.cursor);
      state.cursor = values_.advance(state.cursor);
    }
    values_.store(first, e.constant(frame_.valueBuffer(0)));
    e.waitLds(0);
  }
  query_.emitOperands();
  e.barrier();

  for (int block = 0; block < frame_.shape().headDimV / frame_.atom().m; ++block)
    state.outputs.push_back(e.zero(e.vector(frame_.atom().accumulatorRegisters, e.f32())));
  state.softmax = softmax_.initial();
  state.tile = e.constant(0);
  for (int buffer = 0; buffer < schedule.kBuffers; ++buffer)
    state.keyBuffers.push_back(e.constant(frame_.keyBuffer(buffer)));
  for (int buffer = 0; buffer < schedule.vBuffers; ++buffer)
    state.valueBuffers.push_back(e.constant(frame_.valueBuffer(buffer)));

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
  Emitter &e = frame_.emit();
  if (group != WaveGroup::Keys)
    return;
  // The DMA of tiles past the end moves nothing but zeros, yet it must not write to LDS that
  // already belongs to the next workgroup.
  e.waitVectorMemory(0);
  e.barrier();
}

SmallVector<Value> AntiPhaseLoop::emitSoftmax(LoopState &state, bool masked) {
  Emitter &e = frame_.emit();
  ScoreTile tile;
  if (masked) {
    Value firstKey = e.add(frame_.unit().kv0, e.mul(state.tile, frame_.schedule().blockN));
    tile.limit = e.sub(frame_.keyLimit(), firstKey);
  }
  SmallVector<Value> scores;
  for (Value block : state.scores)
    for (int i = 0; i < frame_.atom().accumulatorRegisters; ++i)
      scores.push_back(e.element(block, i));
  scoreFunctions_.apply(e, tile, scores);
  softmax_.rescaleIfOutgrown(softmax_.tileMaximum(scores), state.softmax, state.outputs);
  return softmax_.probabilities(scores, state.softmax);
}

void AntiPhaseLoop::addOutputProducts(MatrixPhase &phase, const LoopState &state,
                                      SmallVector<Value> valueBases,
                                      ArrayRef<Value> probabilities) {
  for (Value output : state.outputs)
    phase.addAccumulator(output);
  const int blocks = static_cast<int>(state.outputs.size());
  for (int index = 0; index < values_.fragments(); ++index) {
    const int fragment = phase.addFragment(
        [this, valueBases, index] { return values_.readFragment(valueBases, index); });
    const int parts = values_.operandsPerFragment();
    for (int part = 0; part < parts; ++part)
      phase.addProduct(fragment, part, probabilities[parts * (index / blocks) + part],
                       index % blocks);
  }
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

void AntiPhaseLoop::addKeyRequests(MatrixPhase &phase, LoopState &state, StreamCursor &next) {
  struct Target {
    Value descriptor, base;
  };
  auto target = std::make_shared<Target>();
  phase.addSideOperation(0, [this, target, &state] {
    target->descriptor = keys_.descriptor(state.cursor);
    target->base = keys_.dmaBase(state.keyBuffers.back());
  });
  for (int transfer = 0; transfer < keys_.transfers(); ++transfer)
    phase.addSideOperation(transfer + 1, [this, target, transfer] {
      keys_.emitDma(transfer, target->descriptor, target->base);
    });
  phase.addSideOperation(keys_.transfers() + 2,
                         [this, &state, &next] { next = keys_.advance(state.cursor); });
}

void AntiPhaseLoop::addValueRequests(MatrixPhase &phase, LoopState &state, StreamCursor &next,
                                     SmallVector<Value> &staged) {
  auto descriptor = std::make_shared<Value>();
  phase.addSideOperation(
      0, [this, descriptor, &state] { *descriptor = values_.descriptor(state.cursor); });
  for (int transfer = 0; transfer < values_.transfers(); ++transfer)
    phase.addSideOperation(transfer + 1, [this, descriptor, transfer, &staged] {
      staged.push_back(values_.load(transfer, *descriptor));
    });
  phase.addSideOperation(values_.transfers() + 2,
                         [this, &state, &next] { next = values_.advance(state.cursor); });
}

void AntiPhaseLoop::emitIdleTile(WaveGroup group, LoopState &state) {
  Emitter &e = frame_.emit();
  if (group == WaveGroup::Keys) {
    e.waitVectorMemory(frame_.schedule().keyWait);
    e.barrier();
    keys_.emitTile(state.cursor, state.keyBuffers.back());
    state.cursor = keys_.advance(state.cursor);
  } else {
    values_.store(state.staged, state.valueBuffers.back());
    e.waitLds(0);
    e.barrier();
    state.staged = values_.loadTile(state.cursor);
    state.cursor = values_.advance(state.cursor);
  }
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
  SmallVector<Value> probabilities = emitSoftmax(state, kind == TileKind::Masked);
  SmallVector<Value> valueBases = values_.fragmentBases(state.valueBuffers.front());
  SmallVector<Value> keyBases = keys_.fragmentBases(state.keyBuffers.front());
  e.schedBarrier();
  if (group == WaveGroup::Values) {
    values_.store(state.staged, state.valueBuffers.back());
    e.schedBarrier();
  }

  MatrixPhase phase(e, frame_.atom(), schedule.ring, schedule.pre);
  addOutputProducts(phase, state, std::move(valueBases), probabilities);
  const int scores = addScoreProducts(phase, std::move(keyBases));
  StreamCursor cursor;
  SmallVector<Value> staged;
  Value tile;
  if (group == WaveGroup::Keys)
    addKeyRequests(phase, state, cursor);
  else
    addValueRequests(phase, state, cursor, staged);
  const int requests = group == WaveGroup::Keys ? keys_.transfers() : values_.transfers();
  phase.addSideOperation(requests + 2, [&] { tile = e.add(state.tile, 1); });

  // Reads and priority before the barrier, nothing between it and the first MFMA: whatever stands
  // there is paid by both groups.
  phase.prefetch();
  if (group == WaveGroup::Keys)
    e.waitVectorMemory(schedule.keyWait);
  else
    e.waitLds(schedule.valueWait); // LDS answers in order, so the stores before the reads are done
  e.setPriority(schedule.matrixPriority);
  e.barrier();
  phase.emit();
  e.barrier();
  e.setPriority(schedule.softmaxPriority);
  if (schedule.loopEndNop >= 0) {
    e.nop(schedule.loopEndNop);
    e.schedBarrier();
  }

  for (auto [index, output] : llvm::enumerate(state.outputs))
    output = phase.accumulator(static_cast<int>(index));
  state.scores = scoresOf(phase, scores);
  state.cursor = cursor;
  state.tile = tile;
  state.staged = staged;
  rotate(state.keyBuffers);
  rotate(state.valueBuffers);
}

} // namespace wavesmith::compiler
