#include "compiler/passes/Passes.h"

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_INSERTWAITS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Transfers that one wave of a group issues for a tile by LDS DMA, a dword for each lane.
int64_t dmaTransfers(tile::LoadOp load, int64_t waves) {
  tile::TileType type = load.getTile().getType();
  int64_t bytes =
      type.getDim(0) * type.getDim(1) * (type.getElementType().getIntOrFloatBitWidth() / 8);
  constexpr int64_t laneBytes = 4, lanes = 64;
  return bytes / (laneBytes * lanes * (waves / 2));
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

  // A tile staged in the matrix phase of step t is read from step t + buffers on; it is published
  // by the barrier that ends the vector phase of step t + 1, one phase before its first reader.
  LogicalResult runOnLoop(tile::ForKeysOp loop) {
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
      if (load.getLds()->getKind() == tile::LdsKind::Rows)
        vmem =
            (load.getLds()->getBuffers() - 2) * dmaTransfers(load, loop.getSchedule()->getWaves());
      else
        lds = loop.getSchedule()->getPre(); // the fragments requested after the writes
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
