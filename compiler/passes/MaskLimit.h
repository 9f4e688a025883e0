#pragma once
// Recognises score functions that are masks with a limit on one side: "the score where key <= limit
// (or key >= limit), -inf elsewhere", with a limit that does not depend on the key and grows with
// the query. Of such a mask a tile needs only one number for each row, and none where the whole
// tile lies on the limit's right side.

#include <optional>

#include <mlir/IR/Builders.h>

#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

class MaskLimit {
public:
  /// The limit of a score function; none if it is not such a mask.
  static std::optional<MaskLimit> match(tile::ScoreOp score);

  /// Whether keys below the limit are hidden, not those above.
  bool isFirst() const { return first_; }
  /// Emits the limit (i32, the last or the first visible key) for a query. The arguments are i32
  /// values; `values` are what tile.apply gives the function.
  mlir::Value emit(mlir::OpBuilder &builder, mlir::Value query, mlir::Value lenQ, mlir::Value lenKv,
                   mlir::ValueRange values) const;

private:
  tile::ScoreOp score_;
  mlir::Value bound_; ///< the key is compared with it
  bool first_ = false, strict_ = false;
};

} // namespace wavesmith::compiler
