#pragma once
// Recognises score functions that are masks with an upper limit: "the score where key <= limit,
// -inf elsewhere", with a limit that does not depend on the key and grows with the query. Of such a
// mask a tile needs only one number for each row, and none where the whole tile lies below it.

#include <optional>

#include <mlir/IR/Builders.h>

#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

class UpperLimit {
public:
  /// The limit of a score function; none if it is not such a mask.
  static std::optional<UpperLimit> match(tile::ScoreOp score);

  /// Emits the limit (i32, the last visible key) for a query. The arguments are i32 values.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::Value query, mlir::Value lenQ,
                   mlir::Value lenKv) const;

private:
  tile::ScoreOp score_;
  mlir::Value bound_; ///< key < bound_ or key <= bound_
  bool strict_ = false;
};

} // namespace wavesmith::compiler
