#include "compiler/passes/Elements.h"
#include "compiler/passes/Passes.h"

#include "compiler/target/TargetFacts.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_SELECTATOMS
#include "compiler/passes/Passes.h.inc"

namespace {

struct SelectAtomsPass : impl::SelectAtomsBase<SelectAtomsPass> {
  using SelectAtomsBase::SelectAtomsBase;

  void runOnOperation() override {
    const TargetFacts *facts = findTarget(target);
    if (!facts) {
      InFlightDiagnostic error = getOperation().emitError();
      error << "unknown target '" << target << "'; known:";
      for (const TargetFacts &known : targets())
        error << " " << known.name;
      return signalPassFailure();
    }
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>())
      kernel.setTarget(facts->name);
    WalkResult walked = getOperation().walk([&](tile::DotOp dot) {
      return succeeded(select(dot, *facts)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult select(tile::DotOp dot, const TargetFacts &facts) {
    tile::TileType lhs = dot.getLhs().getType();
    tile::TileType result = dot.getResult().getType();
    if (!lhs.isBound() || !result.isBound())
      return dot.emitOpError() << "has unbound operands; run wavesmith-bind-parameters first";
    std::optional<ElementType> element = elementOf(lhs.getElementType());
    if (element) {
      for (const MfmaAtom &atom : atoms(facts, *element)) {
        // Either side may become the instruction's rows: layouts come later.
        bool fits = result.getDim(0) % atom.m == 0 && result.getDim(1) % atom.n == 0 &&
                    result.getDim(0) % atom.n == 0 && result.getDim(1) % atom.m == 0 &&
                    lhs.getDim(1) % atom.k == 0;
        if (!fits)
          continue;
        dot.setAtom(atom.name);
        return success();
      }
    }
    return dot.emitOpError() << "of " << lhs.getElementType() << " " << result.getDim(0) << "x"
                             << result.getDim(1) << "x" << lhs.getDim(1)
                             << " fits no matrix instruction of " << facts.name;
  }
};

} // namespace
} // namespace wavesmith::compiler
