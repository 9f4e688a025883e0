#include "compiler/passes/Passes.h"

#include "compiler/passes/MaskLimit.h"
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
    getOperation().walk([&](tile::ForKeysOp loop) {
      bool knowsHidden = true;
      loop.walk([&](tile::ApplyOp apply) {
        auto score = symbols.lookup<tile::ScoreOp>(apply.getFunction());
        knowsHidden &= !hides(score) || MaskLimit::match(score).has_value();
      });
      loop.setPeeled(knowsHidden);
    });
  }

  static bool hides(tile::ScoreOp score) {
    return score.walk([](tile::MaskOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
};

} // namespace
} // namespace wavesmith::compiler
