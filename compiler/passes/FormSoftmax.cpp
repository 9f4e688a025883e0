#include "compiler/passes/Elements.h"
#include "compiler/passes/Passes.h"

#include <cmath>

#include "compiler/target/TargetFacts.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_FORMSOFTMAX
#include "compiler/passes/Passes.h.inc"

namespace {

struct FormSoftmaxPass : impl::FormSoftmaxBase<FormSoftmaxPass> {
  using FormSoftmaxBase::FormSoftmaxBase;

  void runOnOperation() override {
    std::optional<tile::RowSum> rowSum = tile::symbolizeRowSum(sum);
    if (!rowSum) {
      getOperation().emitError() << "row sum '" << sum << "' is neither vector nor matrix";
      return signalPassFailure();
    }
    std::optional<tile::SoftmaxOrder> softmaxOrder = tile::symbolizeSoftmaxOrder(order);
    if (!softmaxOrder) {
      getOperation().emitError() << "order '" << order << "' is neither pipelined nor windowed";
      return signalPassFailure();
    }
    std::optional<tile::WeightRounding> weightRounding = tile::symbolizeWeightRounding(rounding);
    if (!weightRounding) {
      getOperation().emitError() << "rounding '" << rounding
                                 << "' is neither nearest nor truncated";
      return signalPassFailure();
    }
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>()) {
      WalkResult walked = kernel.walk([&](tile::OnlineSoftmaxOp softmax) {
        return succeeded(form(softmax, kernel, *rowSum, *softmaxOrder, *weightRounding))
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      });
      if (walked.wasInterrupted())
        return signalPassFailure();
    }
  }

  LogicalResult form(tile::OnlineSoftmaxOp softmax, tile::KernelOp kernel, tile::RowSum rowSum,
                     tile::SoftmaxOrder softmaxOrder, tile::WeightRounding weightRounding) {
    const TargetFacts *facts = findTarget(kernel.getTarget().value_or(""));
    if (!facts)
      return kernel.emitOpError() << "has no target; run wavesmith-select-atoms first";
    if (!softmax.getWeights().getType().isBound())
      return softmax.emitOpError() << "has unbound parameters; run wavesmith-bind-parameters first";
    Type weights = softmax.getWeights().getType().getElementType();
    std::optional<ElementType> element = elementOf(weights);
    if (!element)
      return softmax.emitOpError() << "has weights of " << weights << ", which no product takes";
    // Written so that NaN fails.
    const double limit = std::log2(largestOf(*element));
    if (!(threshold >= 0 && exponent + threshold <= limit))
      return softmax.emitOpError()
             << "lets weights reach 2^(" << exponent << " + " << threshold
             << "): want a threshold from 0 and a sum of at most " << limit << " for " << weights;
    if (rowSum == tile::RowSum::Matrix && !rowSumAtom(*facts, *element))
      return softmax.emitOpError() << facts->name << " has no matrix instruction for sums of "
                                   << weights << "; want vector";
    if (weightRounding == tile::WeightRounding::Truncated &&
        (!isHalf(*element) || facts->packedConvert))
      return softmax.emitOpError() << facts->name << " rounds weights of " << weights
                                   << " in one instruction a pair; want nearest";
    Builder builder(&getContext());
    softmax.setFormAttr(tile::SoftmaxAttr::get(&getContext(), rowSum, softmaxOrder, weightRounding,
                                               builder.getF32FloatAttr(exponent),
                                               builder.getF32FloatAttr(threshold)));
    return success();
  }
};

} // namespace
} // namespace wavesmith::compiler
