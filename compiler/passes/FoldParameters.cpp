#include "compiler/passes/Passes.h"

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_FOLDPARAMETERS
#include "compiler/passes/Passes.h.inc"

namespace {

struct FoldParametersPass : impl::FoldParametersBase<FoldParametersPass> {
  using FoldParametersBase::FoldParametersBase;

  void runOnOperation() override {
    SmallVector<tile::IfOp> branches;
    getOperation().walk([&](tile::IfOp op) { branches.push_back(op); });
    for (tile::IfOp op : branches) {
      auto condition = llvm::dyn_cast<IntegerAttr>(op.getCondition());
      if (!condition) {
        op.emitOpError() << "condition " << op.getCondition() << " is not bound";
        return signalPassFailure();
      }
      fold(op, !condition.getValue().isZero() ? op.getThenRegion() : op.getElseRegion());
    }
    // What only a dropped branch used.
    SmallVector<tile::ScoreOp> unused;
    for (tile::ScoreOp score : getOperation().getOps<tile::ScoreOp>())
      if (SymbolTable::symbolKnownUseEmpty(score, getOperation()))
        unused.push_back(score);
    for (tile::ScoreOp score : unused)
      score.erase();
  }

  static void fold(tile::IfOp op, Region &chosen) {
    if (!chosen.empty()) {
      Block &block = chosen.front();
      Operation *end = block.getTerminator();
      op->replaceAllUsesWith(end->getOperands());
      end->erase();
      op->getBlock()->getOperations().splice(Block::iterator(op), block.getOperations());
    }
    op.erase();
  }
};

} // namespace
} // namespace wavesmith::compiler
