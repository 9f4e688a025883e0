#pragma once
// What happens to a tile's scores between Q.K and the softmax: functions from scores to scores,
// applied in order, the soft cap before the mask of causal and tail tiles. Each lane holds the
// scores of one query; element i belongs to key 8 * (i / 4) + 4 * half + i % 4 of the tile.

#include <functional>

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

struct ScoreTile {
  /// Last key that this lane's row sees, relative to the tile and minus 4 * half. Null in the loop
  /// over full tiles, where nothing is masked, and where there is a limit to the first key too.
  mlir::Value limit;
  /// Then: the first key, likewise, and how many the row sees.
  mlir::Value floor, count;

  bool isMasked() const { return limit || floor; }
};

using ScoreFunction =
    std::function<void(Emitter &, const ScoreTile &, mlir::MutableArrayRef<mlir::Value> scores)>;

/// Scores of keys past the limit, or before the floor, become -inf.
void maskScores(Emitter &emit, const ScoreTile &tile, mlir::MutableArrayRef<mlir::Value> scores);

/// Products of q and k become scores in [0, 1], of which cap * tanh(scaled product / cap) is
/// 2 cap (score - 1/2): tanh(y) = 2 / (1 + exp(-2 y)) - 1. Sums of the kernel are of powers that
/// leave the -1/2 out; their logarithm is corrected by Epilogue. An add, a multiplication, an exp2
/// and a reciprocal; the result is off by up to 2^-22 (docs/score-functions.md).
ScoreFunction softCap(const KernelFrame &frame);

/// Applied to every tile, and to masked tiles only (after the former).
struct ScoreFunctions {
  /// Those of the kernel's shape.
  static ScoreFunctions of(const KernelFrame &frame);

  std::vector<ScoreFunction> everywhere;
  std::vector<ScoreFunction> masked{maskScores};

  void apply(Emitter &emit, const ScoreTile &tile, mlir::MutableArrayRef<mlir::Value> scores) const;
};

} // namespace wavesmith::compiler
