#include "compiler/passes/SoftCap.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>

using namespace mlir;

namespace wavesmith::compiler {

std::optional<unsigned> matchSoftCap(tile::ScoreOp score) {
  constexpr unsigned kFirstValue = 5; // behind score, query, key and the lengths
  Block &body = score.getBody().front();
  auto product = body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  auto tanh = product.getRhs().getDefiningOp<math::TanhOp>();
  auto cap = llvm::dyn_cast<BlockArgument>(product.getLhs());
  auto ratio = tanh ? tanh.getOperand().getDefiningOp<arith::DivFOp>() : nullptr;
  if (!ratio || !cap || cap.getArgNumber() < kFirstValue || ratio.getRhs() != cap ||
      ratio.getLhs() != body.getArgument(0))
    return std::nullopt;
  return cap.getArgNumber() - kFirstValue;
}

} // namespace wavesmith::compiler
