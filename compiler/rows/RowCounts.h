#pragma once
// What tile.count becomes: a workgroup counts in LDS, where lanes of one class meet cheaply, and
// adds what it has to device memory at the end. One object for each op; every thread of the
// workgroup passes begin() and end().

#include "compiler/rows/RowMemory.h"

namespace wavesmith::compiler {

class RowCounts {
public:
  using Value = mlir::Value;

  /// Clears the counts; the builder stands before the loop over rows.
  static RowCounts begin(mlir::ImplicitLocOpBuilder &builder, tile::CountOp op, Value thread,
                         int threads);
  /// Counts what this lane holds of a row.
  void add(const RowElements &classes);
  /// Adds all to the tensor, behind the loop.
  void end(RowMemory &memory, mlir::ValueRange indices);

private:
  RowCounts(mlir::ImplicitLocOpBuilder &builder, tile::CountOp op, Value thread, int threads)
      : builder_(builder), op_(op), thread_(thread), threads_(threads) {}

  Value constant(int value);
  Value slot(Value index);
  /// What is in LDS before this is there for all behind it.
  void barrier();

  mlir::ImplicitLocOpBuilder &builder_;
  tile::CountOp op_;
  Value thread_;
  int threads_;
  int classes_ = 0; ///< slots of LDS; one more takes what does not count
  Value lds_;
};

} // namespace wavesmith::compiler
