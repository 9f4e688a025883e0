#pragma once
// The softmax phase of one tile. A row lives in one lane and its partner lane ^ 32; both keep the
// same reference, so the common path exchanges nothing: P = exp2(score * scale + bias) with
// bias = -reference * scale, and only a row that outgrew its reference by the threshold moves it.

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

/// Per lane, carried from tile to tile.
struct SoftmaxState {
  mlir::Value rowSum; ///< of this lane's half of the keys
  mlir::Value bias;   ///< minus the reference in log2 units, the same in both lanes of a row
};

class OnlineSoftmax {
public:
  using Value = mlir::Value;

  explicit OnlineSoftmax(KernelFrame &frame) : frame_(frame) {}

  SoftmaxState initial();
  Value tileMaximum(mlir::ArrayRef<Value> scores);
  /// Branches to a rarely taken block when some row of the wave outgrew its reference. There such
  /// rows move it and scale `outputs` and the sum; every other row multiplies by exactly 1, so its
  /// bits do not depend on its neighbours.
  void rescaleIfOutgrown(Value tileMaximum, SoftmaxState &state,
                         mlir::MutableArrayRef<Value> outputs);
  /// P of the tile as matrix operands, one per k step; adds to the row sum.
  mlir::SmallVector<Value> probabilities(mlir::ArrayRef<Value> scores, SoftmaxState &state);

private:
  KernelFrame &frame_;
};

} // namespace wavesmith::compiler
