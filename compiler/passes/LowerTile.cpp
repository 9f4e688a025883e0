#include "compiler/passes/Passes.h"

#include "compiler/lowering/EmitAttention.h"
#include "compiler/passes/ScheduledKernel.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_LOWERTILE
#include "compiler/passes/Passes.h.inc"

namespace {

struct LowerTilePass : impl::LowerTileBase<LowerTilePass> {
  using LowerTileBase::LowerTileBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tile::KernelOp> kernels(module.getOps<tile::KernelOp>());
    for (tile::KernelOp kernel : kernels) {
      FailureOr<ScheduledKernel> scheduled = ScheduledKernel::read(kernel);
      if (failed(scheduled))
        return signalPassFailure();
      KeyLimits limits;
      for (const ScheduledKernel::Mask &mask : scheduled->masks)
        (mask.limit.isFirst() ? limits.first : limits.last)
            .push_back([mask](KernelFrame &frame, Value query) {
              auto values = llvm::map_to_vector(
                  mask.values, [&](auto member) { return frame.arguments().*member; });
              return mask.limit.emit(frame.emit().builder(), query, frame.unit().lenQ,
                                     frame.unit().lenKv, values);
            });
      std::string name = kernelName.empty() ? kernel.getSymName().str() : kernelName.getValue();
      // The tile kernel has the same symbol until it goes.
      kernel.setSymName("lowered");
      emitAttention(module, name, scheduled->shape, scheduled->schedule, *scheduled->target,
                    limits);
      kernel.erase();
    }
    for (tile::ScoreOp score : llvm::make_early_inc_range(module.getOps<tile::ScoreOp>()))
      score.erase();
  }
};

} // namespace
} // namespace wavesmith::compiler
