#include "compiler/lowering/ScoreFunctions.h"

#include <limits>

namespace wavesmith::compiler {

using namespace mlir;

void maskScores(Emitter &emit, const ScoreTile &tile, MutableArrayRef<Value> scores) {
  // Eight compares, then their selects, each group pinned: otherwise every select gets its compare
  // right before it and pays two wait states. "sgt limit, key - 1" is the form that instruction
  // selection keeps; "slt" would be inverted and regrouped.
  constexpr std::size_t kGroup = 8;
  Value hidden = emit.constant(-std::numeric_limits<float>::infinity());
  for (std::size_t first = 0; first < scores.size(); first += kGroup) {
    SmallVector<Value, kGroup> visible;
    const std::size_t last = std::min(first + kGroup, scores.size());
    for (std::size_t i = first; i < last; ++i) {
      const int key = static_cast<int>(8 * (i / 4) + i % 4);
      visible.push_back(
          tile.floor // unsigned: keys before it are past any count
              ? emit.compare(LLVM::ICmpPredicate::ugt, tile.count,
                             emit.sub(emit.constant(key), tile.floor))
              : emit.compare(LLVM::ICmpPredicate::sgt, tile.limit, emit.constant(key - 1)));
    }
    emit.schedBarrier();
    for (std::size_t i = first; i < last; ++i)
      scores[i] = emit.select(visible[i - first], scores[i], hidden);
    emit.schedBarrier();
  }
}

ScoreFunction softCap(const KernelFrame &frame) {
  return [&frame](Emitter &emit, const ScoreTile &, MutableArrayRef<Value> scores) {
    // As the softmax has it: no instruction waits for the one before it.
    const int distance = frame.schedule().pipelineDistance, count = static_cast<int>(scores.size());
    auto at = [&](int i, auto step) {
      if (i >= 0 && i < count)
        scores[i] = step(scores[i]);
    };
    for (int i = 0; i < count + 3 * distance; ++i) {
      at(i, [&](Value x) { return emit.fmul(x, frame.softCapRate()); });
      at(i - distance, [&](Value x) { return emit.exp2(x); });
      at(i - 2 * distance, [&](Value x) { return emit.fadd(x, emit.constant(1.0f)); });
      at(i - 3 * distance, [&](Value x) { return emit.reciprocal(x); });
    }
  };
}

ScoreFunctions ScoreFunctions::of(const KernelFrame &frame) {
  ScoreFunctions functions;
  if (frame.shape().softCap)
    functions.everywhere.push_back(softCap(frame));
  return functions;
}

void ScoreFunctions::apply(Emitter &emit, const ScoreTile &tile,
                           MutableArrayRef<Value> scores) const {
  for (const ScoreFunction &function : everywhere)
    function(emit, tile, scores);
  if (tile.isMasked())
    for (const ScoreFunction &function : masked)
      function(emit, tile, scores);
}

} // namespace wavesmith::compiler
