#pragma once
// The end of a unit: both halves of each row's sum combined, O divided by it, and either 16-bit O
// with the natural-log LSE, or float32 partials of the unit's slot. A row without keys gives 0 and
// -inf, or its sink. Rows past the sequence's end and bytes between rows are never written.

#include <map>

#include "compiler/lowering/OnlineSoftmax.h"

namespace wavesmith::compiler {

class Epilogue {
public:
  using Value = mlir::Value;

  /// Emits where the results go: the few registers that say so cost less through the loops than
  /// the arguments that it comes from.
  explicit Epilogue(KernelFrame &frame);
  /// Ends in the block where the kernel may return.
  void emit(mlir::ArrayRef<Value> outputs, const SoftmaxState &state);

private:
  /// Up to eight consecutive columns of this lane's row: floats, and their first column without the
  /// lane's own share, halfColumns * half.
  struct Run {
    mlir::SmallVector<Value> values;
    int column;
  };
  struct Place {
    int block, accumulator;
  };
  /// Where the lanes of half 0 hold each column that they hold.
  std::map<int, Place> placesOfColumns() const;
  int columnOf(Place place, int half) const;
  int halfColumns() const { return columnOf({0, 0}, 1) - columnOf({0, 0}, 0); }
  /// What ends a row: whether it saw a key, its sum with the sink, the factor of its outputs, and,
  /// with a sink, whether the sum is counted in the sink's weight.
  struct Ending {
    Value hasKeys, sum, factor, sinkLeads;
  };
  Ending endingOf(const SoftmaxState &state);
  /// Minus the logarithm of what the state's sum is counted in.
  Value reference(const SoftmaxState &state);
  Value logSumExp(const SoftmaxState &state, const Ending &ending);
  mlir::SmallVector<Run> normalise(mlir::ArrayRef<Value> outputs, const Ending &ending);
  void storeFinal(mlir::ArrayRef<Run> runs, Value lse);
  void storePartial(mlir::ArrayRef<Run> runs, Value lse);
  /// One float32 per row, from the lanes of half 0.
  void storeLse(Value value);

  KernelFrame &frame_;
  Value out_, lse_; ///< the unit's first row; lse_ is null if nothing has an LSE
  Value isPartial_; ///< of kernels with splits
  Value sink_;      ///< uniform: of the unit's head, -inf where another unit counts it; or null
  LaneIds ids_;     ///< as of emit()
};

} // namespace wavesmith::compiler
