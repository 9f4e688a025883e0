#pragma once
// The function of a row kernel, its arguments and its memory accesses. A tensor argument is its
// address and one stride in bytes for each `?` dimension (runtime/spec/RowKernelAbi.h). Addresses
// are 64-bit throughout, so no extent is too large.

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/IR/ImplicitLocOpBuilder.h>

#include "dialects/tile/Tile.h"

namespace wavesmith::compiler {

/// How a row lies in lanes: `lanes` of them, each with runs of `chunk` elements.
struct RowLayout {
  int lanes = 1, chunk = 1;

  int runs(int size) const { return size / (lanes * chunk); }
  int perLane(int size) const { return size / lanes; }
};

/// What a lane holds of a row: one value for each element in the order of the row; of FP8, one i32
/// for each four.
using RowElements = llvm::SmallVector<mlir::Value>;

inline bool isFp8(mlir::Type type) {
  return llvm::isa<mlir::Float8E4M3FNUZType, mlir::Float8E4M3FNType>(type);
}
inline int bytesOf(mlir::Type type) { return static_cast<int>(type.getIntOrFloatBitWidth()) / 8; }

class RowMemory {
public:
  using Value = mlir::Value;

  /// Appends function `name`, with `threads` to a workgroup, to the kernel's module; the builder
  /// then stands in its entry block. Scalar arguments go into `scalars`.
  RowMemory(mlir::ImplicitLocOpBuilder &builder, tile::KernelOp kernel, llvm::StringRef name,
            int threads, mlir::IRMapping &scalars);

  Value readElement(Value tensor, mlir::ValueRange indices);
  void writeElement(Value value, Value tensor, mlir::ValueRange indices);
  RowElements loadRow(Value tensor, mlir::ValueRange indices, int first, int size,
                      const RowLayout &layout, Value laneInRow);
  void storeRow(const RowElements &elements, Value tensor, mlir::ValueRange indices, int first,
                int size, const RowLayout &layout, Value laneInRow);
  /// Atomically, for the whole device. Floats are compared as their bits: not negative.
  void accumulate(tile::Combiner combiner, Value value, Value tensor, mlir::ValueRange indices);

private:
  struct Argument {
    tile::TensorType type;
    Value base;
    llvm::SmallVector<Value> strides;
  };

  /// Address of the element, or of the row's first when the last index is left out.
  Value address(Value tensor, mlir::ValueRange indices);
  Value offset(Value pointer, Value bytes);
  /// Byte offset of this lane's run 0.
  Value laneOffset(Value laneInRow, int bytes);

  mlir::ImplicitLocOpBuilder &builder_;
  llvm::DenseMap<Value, Argument> arguments_;
};

} // namespace wavesmith::compiler
