#include "compiler/passes/Images.h"
#include "compiler/passes/Passes.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_INSERTWAITS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Transfers that one wave of a group issues for a tile by LDS DMA, the widest that the target has.
int64_t dmaTransfers(tile::LoadOp load, int64_t waves, const TargetFacts &target) {
  tile::TileType type = load.getTile().getType();
  int64_t bytes =
      type.getDim(0) * type.getDim(1) * (type.getElementType().getIntOrFloatBitWidth() / 8);
  return bytes / (target.maxDmaBytes * kWaveLanes * (waves / 2));
}

struct InsertWaitsPass : impl::InsertWaitsBase<InsertWaitsPass> {
  using InsertWaitsBase::InsertWaitsBase;

  void runOnOperation() override {
    WalkResult walked = getOperation().walk([&](tile::ForKeysOp loop) {
      if (!loop.getSchedule())
        return WalkResult::advance();
      return succeeded(runOnLoop(loop)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  // The barrier that ends the vector phase of step t publishes what the matrix phase of step t
  // reads of step t + 1, and what the one of step t + 1 reads of its own step: reads of those
  // precede their barrier. Of the tiles requested since then, all may be in flight.
  LogicalResult runOnLoop(tile::ForKeysOp loop) {
    auto kernel = loop->getParentOfType<tile::KernelOp>();
    if (!kernel)
      return loop.emitOpError() << "stands outside a kernel";
    if (loop.getSchedule()->getWaves() < 2)
      return loop.emitOpError() << "has " << loop.getSchedule()->getWaves()
                                << " waves; want two groups of some";
    const TargetFacts *target = findTarget(kernel.getTarget().value_or(""));
    if (!target)
      return kernel.emitOpError() << "has no target; run wavesmith-select-atoms first";
    SmallVector<Attribute> waits;
    tile::PhaseOp vector;
    for (tile::PhaseOp phase : loop.getBody().front().getOps<tile::PhaseOp>())
      if (phase.getKind() == tile::PhaseKind::Vector)
        vector = phase;
    WalkResult walked = loop.walk([&](tile::LoadOp load) {
      if (!load.getLds() || !load.getStaging()) {
        load.emitOpError() << "is neither placed nor staged";
        return WalkResult::interrupt();
      }
      int64_t vmem = -1, lds = -1;
      if (isDma(load.getLds()->getKind())) {
        bool next = load.getRows() == loop.getBody().getArgument(1);
        int64_t tiles = load.getStaging()->getAhead() - (next ? 1 : 2);
        if (tiles < 0) {
          load.emitOpError() << "by DMA needs at least " << (next ? 2 : 3) << " buffers, not "
                             << load.getLds()->getBuffers();
          return WalkResult::interrupt();
        }
        vmem = tiles * dmaTransfers(load, loop.getSchedule()->getWaves(), *target);
      } else {
        lds = loop.getSchedule()->getPre(); // the fragments requested after the writes
      }
      waits.push_back(
          tile::WaitsAttr::get(&getContext(), load.getStaging()->getGroup(), vmem, lds));
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    if (!vector)
      return loop.emitOpError() << "has no vector phase";
    vector.setWaitsAttr(ArrayAttr::get(&getContext(), waits));
    return success();
  }
};

} // namespace
} // namespace wavesmith::compiler
