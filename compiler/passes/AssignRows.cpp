#include "compiler/passes/Passes.h"

#include "compiler/target/TargetFacts.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_ASSIGNROWS
#include "compiler/passes/Passes.h.inc"

namespace {

constexpr int64_t kAccessBytes = 16;

struct AssignRowsPass : impl::AssignRowsBase<AssignRowsPass> {
  using AssignRowsBase::AssignRowsBase;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](tile::ForRowsOp op) {
      return failed(assign(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult assign(tile::ForRowsOp op) {
    if (rows <= 0 || rows > (int64_t(1) << 20))
      return op.emitOpError() << "a workgroup does 1 to 1048576 rows, not " << int64_t(rows);
    // The widest element fills an access; narrower ones take less, so that every tensor of the loop
    // has its elements in the same lanes.
    int64_t widest = 0;
    SmallVector<std::pair<Operation *, int64_t>> sizes;
    LogicalResult bound = success();
    auto look = [&](Operation *access, tile::TileType tile, uint32_t first) {
      if (!tile.isBound()) {
        bound = access->emitOpError() << "has unbound parameters";
        return;
      }
      if (tile.getElementType().getIntOrFloatBitWidth() < 8) {
        bound = access->emitOpError() << "has elements of less than a byte";
        return;
      }
      widest = std::max<int64_t>(widest, tile.getElementType().getIntOrFloatBitWidth() / 8);
      sizes.push_back({access, tile.getDim(0)});
      if (first != 0)
        sizes.push_back({access, first});
    };
    op.walk([&](Operation *inner) {
      if (auto load = llvm::dyn_cast<tile::LoadRowOp>(inner))
        look(load, load.getTile().getType(), load.getFirst().value_or(0));
      else if (auto store = llvm::dyn_cast<tile::StoreRowOp>(inner))
        look(store, store.getTile().getType(), store.getFirst().value_or(0));
    });
    if (failed(bound))
      return failure();
    if (sizes.empty())
      return op.emitOpError() << "loads and stores no row";
    int64_t chunk = kAccessBytes / widest, lanes = kWaveLanes;
    for (auto [access, size] : sizes) {
      if (size % chunk != 0)
        return access->emitOpError()
               << "starts or ends inside an access of " << chunk << " elements";
      while (size % (lanes * chunk) != 0)
        lanes /= 2;
    }
    op.setLayoutAttr(tile::RowsAttr::get(&getContext(), lanes, chunk, rows));
    return success();
  }
};

} // namespace
} // namespace wavesmith::compiler
