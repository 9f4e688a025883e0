#include "compiler/passes/Passes.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>

#include "compiler/passes/Elements.h"
#include "compiler/rows/RowEmitter.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_LOWERROWS
#include "compiler/passes/Passes.h.inc"

namespace {

constexpr int64_t kMostRows = 1 << 20; ///< of a workgroup

/// Everything that the emitter relies on and that no verifier of an op can know.
LogicalResult check(tile::KernelOp kernel, StringRef target, int64_t threads) {
  const TargetFacts *facts = findTarget(target);
  if (!facts)
    return kernel.emitOpError() << "is for " << target << ", which is no target";
  if (threads < kWaveLanes || threads > 1024 || threads % kWaveLanes != 0)
    return kernel.emitOpError() << "cannot have " << threads << " threads; want whole waves";
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError() << "has one block";
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    Type type = argument.getType();
    auto tensor = llvm::dyn_cast<tile::TensorType>(type);
    if (tensor ? !tensor.isBound() : !(type.isF32() || type.isInteger(32) || type.isInteger(64)))
      return kernel.emitOpError() << "argument " << argument.getArgNumber() << " is " << type
                                  << "; a row kernel takes tensors, f32, i32 and i64";
  }
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto rows = llvm::dyn_cast<tile::ForRowsOp>(op); rows && rows.getLayout()) {
      int64_t lanes = rows.getLayout()->getLanes(), chunk = rows.getLayout()->getChunk();
      if (lanes <= 0 || lanes > kWaveLanes || !llvm::isPowerOf2_64(lanes) || chunk < 2 ||
          chunk > 16 || !llvm::isPowerOf2_64(chunk) || rows.getLayout()->getRows() <= 0 ||
          rows.getLayout()->getRows() > kMostRows) {
        op->emitOpError() << "layout " << *rows.getLayout() << " does not fit a wave";
        return WalkResult::interrupt();
      }
    }
    // Tensors are arguments: which one an op means must be known here.
    auto carries = [](Type type) { return llvm::isa<tile::TensorType>(type); };
    if (op != kernel && (llvm::any_of(op->getResultTypes(), carries) ||
                         llvm::any_of(op->getRegions(), [&](Region &region) {
                           return llvm::any_of(region.getArgumentTypes(), carries);
                         }))) {
      op->emitOpError() << "carries a tensor";
      return WalkResult::interrupt();
    }
    if (auto rotate = llvm::dyn_cast<tile::RotateOp>(op);
        rotate && (tile::isParam(rotate.getSeed()) ||
                   (rotate.getFirstAttr() && tile::isParam(rotate.getFirstAttr())))) {
      op->emitOpError() << "has unbound parameters";
      return WalkResult::interrupt();
    }
    for (Value value : op->getResults()) {
      auto tile = llvm::dyn_cast<tile::TileType>(value.getType());
      if (!tile)
        continue;
      auto rows = op->getParentOfType<tile::ForRowsOp>();
      if (!rows || !rows.getLayout() || !tile.isBound() || tile.getShape().size() != 1 ||
          tile.getDim(0) % (rows.getLayout()->getLanes() * rows.getLayout()->getChunk()) != 0) {
        op->emitOpError() << "gives " << tile << ", which is no row of a loop with a layout";
        return WalkResult::interrupt();
      }
      if (constexpr int64_t kPerLane = 256;
          tile.getDim(0) / rows.getLayout()->getLanes() > kPerLane) {
        op->emitOpError() << "gives " << tile << "; a lane can hold " << kPerLane
                          << " elements, not " << tile.getDim(0) / rows.getLayout()->getLanes();
        return WalkResult::interrupt();
      }
      Type element = tile.getElementType();
      if (isFp8(element) ? elementOf(element) != facts->fp8 || rows.getLayout()->getChunk() < 4
                         : !(element.isF32() || element.isBF16() || element.isF16() ||
                             element.isInteger(32))) {
        op->emitOpError() << "gives elements of " << element << ", which " << target
                          << " has no conversions for here";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct LowerRowsPass : impl::LowerRowsBase<LowerRowsPass> {
  using LowerRowsBase::LowerRowsBase;

  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels(getOperation().getOps<tile::KernelOp>());
    for (tile::KernelOp kernel : kernels) {
      if (failed(check(kernel, target, threads)))
        return signalPassFailure();
      std::string name = kernelName.empty() ? kernel.getSymName().str() : kernelName.getValue();
      // The tile kernel has the same symbol until it goes.
      kernel.setSymName("lowered");
      RowEmitter emitter(kernel, name, static_cast<int>(threads));
      if (failed(emitter.emit()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};

} // namespace
} // namespace wavesmith::compiler
