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
      for (const UpperLimit &mask : scheduled->masks)
        limits.push_back([mask](Emitter &emit, Value query, Value lenQ, Value lenKv) {
          return mask.emit(emit.builder(), query, lenQ, lenKv);
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
