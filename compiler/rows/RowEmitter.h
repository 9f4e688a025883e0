#pragma once
// A row kernel of the tile dialect to a function of the LLVM, ROCDL, arith, math and scf dialects:
// what one lane does. Tiles become the values that a lane holds, scalars stay what they are. One
// emission a kernel.

#include "compiler/rows/RowArithmetic.h"
#include "compiler/rows/RowCounts.h"

#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/IRMapping.h>

namespace wavesmith::compiler {

class RowEmitter {
public:
  /// `name` is the function's symbol; it stands behind the kernel, which stays.
  RowEmitter(tile::KernelOp kernel, llvm::StringRef name, int threads);

  /// Fails, with a diagnostic at the op, on what has no lowering.
  mlir::LogicalResult emit();

private:
  using Value = mlir::Value;

  mlir::LogicalResult emitBody(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation &op);
  mlir::LogicalResult emitRows(tile::ForRowsOp op);
  mlir::LogicalResult emitLoop(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitMap(tile::MapOp op);
  mlir::LogicalResult emitConvert(tile::ConvertOp op);
  void emitReduce(tile::ReduceOp op);
  void emitWrite(tile::WriteOp op);
  mlir::LogicalResult emitLargest(tile::LargestOp op);
  mlir::LogicalResult emitScalar(mlir::Operation &op);

  /// What lanes hold of the operands, flat; and of new values of the given types, taken from
  /// `flat`.
  llvm::SmallVector<Value> flatten(mlir::ValueRange values);
  void unflatten(mlir::ValueRange values, mlir::ValueRange flat);
  std::size_t flatSize(mlir::Type type) const;
  llvm::SmallVector<Value> mapped(mlir::ValueRange values);
  Value workgroup(tile::Axis axis);
  Value constant(int value);
  /// Runs `body` in the one lane whose `id` is 0.
  void inFirst(Value id, llvm::function_ref<void()> body);

  tile::KernelOp kernel_;
  mlir::ImplicitLocOpBuilder builder_;
  mlir::IRMapping scalars_;
  int threads_;
  RowMemory memory_;
  Value thread_, lane_;
  std::unique_ptr<LaneOps> lanes_;
  llvm::DenseMap<Value, RowElements> tiles_;
  llvm::SmallVector<mlir::scf::ForOp> loops_; ///< of the template, inner ones first
  // Of the loop over rows that is being emitted.
  std::optional<RowLayout> layout_;
  Value laneInRow_;
  llvm::DenseMap<mlir::Operation *, Value> accumulators_;
  llvm::MapVector<mlir::Operation *, RowCounts> counts_;
};

} // namespace wavesmith::compiler
