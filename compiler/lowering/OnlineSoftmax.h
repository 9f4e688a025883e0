#pragma once
// The softmax phase of one tile. A row lives in one lane and its partner lane ^ 32; both keep the
// same reference, so the common path exchanges nothing: P = exp2(score * scale + bias) with
// bias = exponent - reference * scale, and only a row that outgrew its reference by the threshold
// moves it.

#include "compiler/lowering/KernelFrame.h"

namespace wavesmith::compiler {

/// Per lane, carried from tile to tile.
struct SoftmaxState {
  /// Of this lane's half of the keys; by the matrix core: of all keys, in each of its registers.
  mlir::Value rowSum;
  mlir::Value bias; ///< see above, the same in both lanes of a row
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
  /// P of the tile as matrix operands, one per k step; the vector ALU adds to the row sum here.
  /// `halfway` is emitted when half of the weights are on their way; the rest covers its waits.
  mlir::SmallVector<Value> probabilities(mlir::ArrayRef<Value> scores, SoftmaxState &state,
                                         mlir::function_ref<void()> halfway = nullptr);
  /// The matrix core adds in the matrix phase: that operand of the row-sum atom which gives every
  /// lane the sum of its own row. The row 16 further takes part with 0, so a NaN there shows here.
  Value sumSelector();
  /// The whole row's sum from its lane's.
  Value total(const SoftmaxState &state);

private:
  class Elements;
  void emitPipelined(Elements &elements, mlir::function_ref<void()> halfway);
  void emitWindowed(Elements &elements, mlir::function_ref<void()> halfway);
  bool sumsByMatrix() const { return frame_.schedule().rowSum == RowSum::Matrix; }

  KernelFrame &frame_;
};

} // namespace wavesmith::compiler
