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
      visible.push_back(emit.compare(LLVM::ICmpPredicate::sgt, tile.limit, emit.constant(key - 1)));
    }
    emit.schedBarrier();
    for (std::size_t i = first; i < last; ++i)
      scores[i] = emit.select(visible[i - first], scores[i], hidden);
    emit.schedBarrier();
  }
}

void ScoreFunctions::apply(Emitter &emit, const ScoreTile &tile,
                           MutableArrayRef<Value> scores) const {
  for (const ScoreFunction &function : everywhere)
    function(emit, tile, scores);
  if (tile.limit)
    for (const ScoreFunction &function : masked)
      function(emit, tile, scores);
}

} // namespace wavesmith::compiler
