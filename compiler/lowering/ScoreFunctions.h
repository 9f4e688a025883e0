#pragma once
// What happens to a tile's scores between Q.K and the softmax: functions from scores to scores,
// applied in order. The mask of causal and tail tiles is one of them; a soft cap or a window would
// be others. Each lane holds the scores of one query; element i belongs to key
// 8 * (i / 4) + 4 * half + i % 4 of the tile.

#include <functional>

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

struct ScoreTile {
  /// Last key that this lane's row sees, relative to the tile and minus 4 * half. Null in the loop
  /// over full tiles, where nothing is masked.
  mlir::Value limit;
};

using ScoreFunction =
    std::function<void(Emitter &, const ScoreTile &, mlir::MutableArrayRef<mlir::Value> scores)>;

/// Scores of keys past the limit become -inf.
void maskScores(Emitter &emit, const ScoreTile &tile, mlir::MutableArrayRef<mlir::Value> scores);

/// Applied to every tile, and to masked tiles only (after the former).
struct ScoreFunctions {
  std::vector<ScoreFunction> everywhere;
  std::vector<ScoreFunction> masked{maskScores};

  void apply(Emitter &emit, const ScoreTile &tile, mlir::MutableArrayRef<mlir::Value> scores) const;
};

} // namespace wavesmith::compiler
