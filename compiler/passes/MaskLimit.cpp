#include "compiler/passes/MaskLimit.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/IR/IRMapping.h>

using namespace mlir;

namespace wavesmith::compiler {
namespace {

enum Argument : unsigned { Score, Query, Key, LenQ, LenKv, FirstValue };

/// Sums of the query, the lengths and the launch's values, the query never subtracted: then the
/// smallest query of a tile has the smallest limit.
bool growsWithQuery(Value value, Block &body, bool positive) {
  if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    return number == LenQ || number == LenKv || (number == Query && positive) ||
           (number >= FirstValue && argument.getType().isInteger(32));
  }
  Operation *op = value.getDefiningOp();
  if (llvm::isa<arith::ConstantOp>(op))
    return true;
  if (llvm::isa<arith::AddIOp>(op))
    return growsWithQuery(op->getOperand(0), body, positive) &&
           growsWithQuery(op->getOperand(1), body, positive);
  if (llvm::isa<arith::SubIOp>(op))
    return growsWithQuery(op->getOperand(0), body, positive) &&
           growsWithQuery(op->getOperand(1), body, !positive);
  return false;
}

} // namespace

std::optional<MaskLimit> MaskLimit::match(tile::ScoreOp score) {
  Block &body = score.getBody().front();
  auto mask = body.getTerminator()->getOperand(0).getDefiningOp<tile::MaskOp>();
  if (!mask || mask.getScore() != body.getArgument(Score))
    return std::nullopt;
  auto compare = mask.getVisible().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getLhs() != body.getArgument(Key))
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  const Predicate predicate = compare.getPredicate();
  MaskLimit limit;
  limit.score_ = score;
  limit.bound_ = compare.getRhs();
  limit.first_ = predicate == Predicate::sge || predicate == Predicate::sgt;
  limit.strict_ = predicate == Predicate::slt || predicate == Predicate::sgt;
  if (!limit.first_ && !limit.strict_ && predicate != Predicate::sle)
    return std::nullopt;
  if (!growsWithQuery(limit.bound_, body, true))
    return std::nullopt;
  return limit;
}

Value MaskLimit::emit(OpBuilder &builder, Value query, Value lenQ, Value lenKv,
                      ValueRange values) const {
  tile::ScoreOp score = score_;
  Block &body = score.getBody().front();
  IRMapping map;
  map.map(body.getArgument(Query), query);
  map.map(body.getArgument(LenQ), lenQ);
  map.map(body.getArgument(LenKv), lenKv);
  for (auto [argument, value] : llvm::zip(body.getArguments().drop_front(FirstValue), values))
    map.map(argument, value);
  Location loc = query.getLoc();
  // LLVM's ops, since what surrounds them is the LLVM dialect already.
  std::function<Value(Value)> copy = [&](Value value) -> Value {
    if (Value known = map.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    Value made;
    if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
      made = LLVM::ConstantOp::create(builder, loc, constant.getType(), constant.getValue());
    } else {
      Value lhs = copy(op->getOperand(0));
      Value rhs = copy(op->getOperand(1));
      if (llvm::isa<arith::AddIOp>(op))
        made = LLVM::AddOp::create(builder, loc, lhs, rhs);
      else
        made = LLVM::SubOp::create(builder, loc, lhs, rhs);
    }
    map.map(value, made);
    return made;
  };
  Value limit = copy(bound_);
  if (!strict_)
    return limit;
  Value one = LLVM::ConstantOp::create(builder, loc, limit.getType(), builder.getI32IntegerAttr(1));
  return first_ ? LLVM::AddOp::create(builder, loc, limit, one).getResult()
                : LLVM::SubOp::create(builder, loc, limit, one).getResult();
}

} // namespace wavesmith::compiler
