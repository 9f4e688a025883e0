#pragma once
// Values across the lanes of a wave: DPP where it reaches, the LDS crossbar (which touches no LDS
// memory) beyond. Every lane that takes part must be active. One per function under construction.

#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/ImplicitLocOpBuilder.h>

#include "compiler/target/TargetFacts.h"
#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

class LaneOps {
public:
  using Value = mlir::Value;

  /// `lane` is this lane's index in its wave.
  LaneOps(mlir::ImplicitLocOpBuilder &builder, Value lane) : builder_(builder), lane_(lane) {}

  /// The value (f32 or i32) of lane `lane ^ mask`; mask is a power of two.
  Value exchange(Value value, int mask);
  /// Combines the values of the lanes that differ in bits [from, to) (powers of two) of their
  /// index, nearest first; all of them get the result.
  Value combine(tile::Combiner combiner, Value value, int from, int to);

private:
  Value dpp(Value value, int control);

  mlir::ImplicitLocOpBuilder &builder_;
  Value lane_;
};

/// a combined with b; both f32 or both i32. NaN does not take part in a maximum.
mlir::Value combined(mlir::ImplicitLocOpBuilder &builder, tile::Combiner combiner, mlir::Value a,
                     mlir::Value b);

} // namespace wavesmith::compiler
