#include "compiler/passes/Passes.h"

#include <set>

#include "compiler/target/TargetFacts.h"
#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "compiler/passes/Passes.h.inc"

namespace {

/// Whether the accumulators of D^T of `producer`, packed in register order, are an operand of
/// `consumer`: each block of the contraction must be whole, and each lane must hold its own column.
/// The order inside a block is free, as long as the other operand is loaded in the same order.
bool accumulatorsAreOperand(const MfmaAtom &producer, const MfmaAtom &consumer) {
  if (producer.n != consumer.n)
    return false; // the column would move to another lane
  int groups = kWaveLanes / producer.n;
  int items = consumer.k / groups;
  // An operand may take the accumulators of several products, of consecutive rows.
  const int registers = producer.accumulatorRegisters;
  auto row = [&](int index, int group) {
    return index / registers * producer.m + producer.accumulatorRow(index % registers, group);
  };
  for (int first = 0; first < std::max(registers, items); first += items) {
    std::set<int> rows;
    for (int group = 0; group < groups; ++group)
      for (int item = 0; item < items; ++item)
        rows.insert(row(first + item, group));
    bool whole = static_cast<int>(rows.size()) == consumer.k &&
                 *rows.rbegin() - *rows.begin() == consumer.k - 1 &&
                 *rows.begin() % consumer.k == 0;
    if (!whole)
      return false;
  }
  return true;
}

/// The dot whose result this value is, seen through elementwise ops; null if there is none.
tile::DotOp producingDot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto dot = llvm::dyn_cast<tile::DotOp>(op))
      return dot;
    if (auto apply = llvm::dyn_cast<tile::ApplyOp>(op))
      value = apply.getScores();
    else if (auto scale = llvm::dyn_cast<tile::ScaleOp>(op))
      value = scale.getValue();
    else if (auto softmax = llvm::dyn_cast<tile::OnlineSoftmaxOp>(op);
             softmax && value == softmax.getWeights())
      value = softmax.getScores();
    else
      return nullptr;
  }
  return nullptr;
}

/// Spreads layouts along ops that leave a tile in its registers.
class LayoutAssigner {
public:
  LogicalResult assign(Value value, tile::MmaAttr layout) {
    auto type = llvm::dyn_cast<tile::TileType>(value.getType());
    if (!type || type.getLayout() == layout)
      return success();
    if (type.getLayout())
      return emitError(value.getLoc())
             << "a tile is needed as " << type.getLayout() << " and as " << layout;
    value.setType(type.withLayout(layout));
    for (Value other : inSameRegisters(value))
      if (failed(assign(other, layout)))
        return failure();
    return success();
  }

private:
  static SmallVector<Value> inSameRegisters(Value value) {
    SmallVector<Value> others;
    for (OpOperand &use : value.getUses())
      addUse(use, others);
    if (Operation *op = value.getDefiningOp())
      addDefinition(op, llvm::cast<OpResult>(value), others);
    else
      addArgument(llvm::cast<BlockArgument>(value), others);
    return others;
  }

  static void addCarried(tile::ForKeysOp loop, unsigned index, SmallVector<Value> &others) {
    Block &body = loop.getBody().front();
    unsigned keys = body.getNumArguments() - loop.getInits().size();
    others.push_back(loop.getInits()[index]);
    others.push_back(body.getArgument(keys + index));
    others.push_back(loop.getResult(index));
    others.push_back(body.getTerminator()->getOperand(index));
  }

  static void addUse(OpOperand &use, SmallVector<Value> &others) {
    Operation *op = use.getOwner();
    if (auto loop = llvm::dyn_cast<tile::ForKeysOp>(op)) {
      if (use.getOperandNumber() > 0)
        addCarried(loop, use.getOperandNumber() - 1, others);
    } else if (auto loop = llvm::dyn_cast<tile::ForKeysOp>(op->getParentOp());
               loop && llvm::isa<tile::YieldOp>(op)) {
      addCarried(loop, use.getOperandNumber(), others);
    } else if (auto apply = llvm::dyn_cast<tile::ApplyOp>(op)) {
      others.push_back(apply.getResult());
    } else if (auto softmax = llvm::dyn_cast<tile::OnlineSoftmaxOp>(op)) {
      if (use.getOperandNumber() >= 1 && use.getOperandNumber() <= 3)
        others.push_back(softmax.getResult(use.getOperandNumber()));
    } else if (auto normalize = llvm::dyn_cast<tile::NormalizeOp>(op)) {
      others.push_back(use.getOperandNumber() == 0 ? normalize.getResult() : normalize.getLse());
    } else if (auto scale = llvm::dyn_cast<tile::ScaleOp>(op)) {
      others.push_back(scale.getResult());
    }
  }

  static void addDefinition(Operation *op, OpResult result, SmallVector<Value> &others) {
    unsigned index = result.getResultNumber();
    if (auto loop = llvm::dyn_cast<tile::ForKeysOp>(op))
      addCarried(loop, index, others);
    else if (auto apply = llvm::dyn_cast<tile::ApplyOp>(op))
      others.push_back(apply.getScores());
    else if (auto scale = llvm::dyn_cast<tile::ScaleOp>(op))
      others.push_back(scale.getValue());
    else if (auto softmax = llvm::dyn_cast<tile::OnlineSoftmaxOp>(op); softmax && index > 0)
      others.push_back(softmax.getOperand(index));
  }

  static void addArgument(BlockArgument argument, SmallVector<Value> &others) {
    auto loop = llvm::dyn_cast<tile::ForKeysOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return;
    unsigned keys = argument.getOwner()->getNumArguments() - loop.getInits().size();
    if (argument.getArgNumber() >= keys)
      addCarried(loop, argument.getArgNumber() - keys, others);
  }
};

struct AssignLayoutsPass : impl::AssignLayoutsBase<AssignLayoutsPass> {
  using AssignLayoutsBase::AssignLayoutsBase;

  void runOnOperation() override {
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>())
      if (failed(runOnKernel(kernel)))
        return signalPassFailure();
  }

  LogicalResult runOnKernel(tile::KernelOp kernel) {
    const TargetFacts *facts = findTarget(kernel.getTarget().value_or(""));
    SmallVector<tile::DotOp> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
    DenseSet<Operation *> transposed;
    for (tile::DotOp dot : dots) {
      if (!facts || !dot.getAtom() || !findAtom(*facts, *dot.getAtom()))
        return dot.emitOpError() << "has no atom; run wavesmith-select-atoms first";
      tile::DotOp producer = producingDot(dot.getLhs());
      if (!producer)
        continue;
      if (!accumulatorsAreOperand(*findAtom(*facts, *producer.getAtom()),
                                  *findAtom(*facts, *dot.getAtom())))
        return dot.emitOpError() << "needs its left operand in other registers than "
                                 << *producer.getAtom() << " leaves it in";
      transposed.insert(producer);
      transposed.insert(dot);
    }

    LayoutAssigner assigner;
    for (tile::DotOp dot : dots) {
      bool swap = transposed.contains(dot);
      auto layout = [&](tile::Role role) {
        return tile::MmaAttr::get(&getContext(), *dot.getAtom(), role, swap);
      };
      // D^T = B^T A^T: what the template calls left is the instruction's right.
      if (failed(assigner.assign(dot.getLhs(), layout(swap ? tile::Role::Rhs : tile::Role::Lhs))) ||
          failed(assigner.assign(dot.getRhs(), layout(swap ? tile::Role::Lhs : tile::Role::Rhs))) ||
          failed(assigner.assign(dot.getResult(), layout(tile::Role::Accumulator))) ||
          (dot.getAcc() && failed(assigner.assign(dot.getAcc(), layout(tile::Role::Accumulator)))))
        return failure();
    }
    WalkResult walked = kernel.walk([&](tile::OnlineSoftmaxOp softmax) {
      auto scores =
          llvm::dyn_cast_or_null<tile::MmaAttr>(softmax.getScores().getType().getLayout());
      if (!scores) {
        softmax.emitOpError() << "scores have no layout: they are not the result of a dot";
        return WalkResult::interrupt();
      }
      auto stats = tile::MmaAttr::get(&getContext(), scores.getAtom(), tile::Role::Statistics,
                                      scores.getTransposed());
      return succeeded(assigner.assign(softmax.getMax(), stats)) &&
                     succeeded(assigner.assign(softmax.getSum(), stats))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    return failure(walked.wasInterrupted());
  }
};

} // namespace
} // namespace wavesmith::compiler
