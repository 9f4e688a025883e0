#include "compiler/passes/Passes.h"

#include "compiler/passes/UpperLimit.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_PEELMASKS
#include "compiler/passes/Passes.h.inc"

namespace {

struct PeelMasksPass : impl::PeelMasksBase<PeelMasksPass> {
  using PeelMasksBase::PeelMasksBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult walked = getOperation().walk([&](tile::ForKeysOp loop) {
      bool onlyMasks = true;
      WalkResult inner = loop.walk([&](tile::ApplyOp apply) {
        auto score = symbols.lookup<tile::ScoreOp>(apply.getFunction());
        if (!score) {
          apply.emitOpError() << "there is no score function " << apply.getFunctionAttr();
          return WalkResult::interrupt();
        }
        onlyMasks &= UpperLimit::match(score).has_value();
        return WalkResult::advance();
      });
      if (inner.wasInterrupted())
        return WalkResult::interrupt();
      loop.setPeeled(onlyMasks);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace wavesmith::compiler
