#include "compiler/passes/Images.h"
#include "compiler/passes/Passes.h"

#include <mlir/IR/IRMapping.h>

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_PIPELINELOADS
#include "compiler/passes/Passes.h.inc"

namespace {

bool isMatrixWork(Operation &op) { return llvm::isa<tile::LoadOp, tile::DotOp>(op); }

/// One loop on its way into phases. The dot that starts from loaded tiles alone ("lead") can run a
/// step ahead; everything between it and the next dot is vector work.
class LoopPipeliner {
public:
  LoopPipeliner(tile::ForKeysOp loop, tile::AntiPhaseAttr schedule, int64_t registerAhead)
      : loop(loop), schedule(schedule), registerAhead(registerAhead), builder(loop) {}

  LogicalResult run() {
    if (failed(findLead()))
      return failure();
    Block &body = loop.getBody().front();

    // The first step's scores, before the loop.
    Value first = tile::FirstKeysOp::create(builder, loop.getLoc(), loop.getUnit());
    IRMapping ahead;
    ahead.map(body.getArgument(0), first);
    builder.clone(*leadLoad, ahead);
    Operation *firstLead = builder.clone(*lead, ahead);

    SmallVector<Value> inits{firstLead->getResult(0)};
    llvm::append_range(inits, loop.getInits());
    SmallVector<Type> types;
    for (Value init : inits)
      types.push_back(init.getType());
    auto piped = tile::ForKeysOp::create(builder, loop.getLoc(), types, loop.getUnit(), inits,
                                         loop.getStep(), schedule, loop.getPeeledAttr());
    Type keys = tile::KeysType::get(loop.getContext());
    Block *block = builder.createBlock(&piped.getBody());
    block->addArguments({keys, keys}, {loop.getLoc(), loop.getLoc()});
    for (Type type : types)
      block->addArgument(type, loop.getLoc());

    IRMapping map;
    map.map(body.getArgument(0), block->getArgument(0));
    map.map(lead.getResult(), block->getArgument(2));
    for (unsigned i = 1; i < body.getNumArguments(); ++i)
      map.map(body.getArgument(i), block->getArgument(2 + i));
    emitPhase(tile::PhaseKind::Vector, body, map);
    emitMatrixPhase(body, map, block->getArgument(1));

    SmallVector<Value> yielded{nextScores};
    for (Value value : body.getTerminator()->getOperands())
      yielded.push_back(map.lookup(value));
    tile::YieldOp::create(builder, loop.getLoc(), yielded);
    loop->replaceAllUsesWith(piped.getResults().drop_front());
    loop.erase();
    return success();
  }

private:
  LogicalResult findLead() {
    for (Operation &op : loop.getBody().front()) {
      auto dot = llvm::dyn_cast<tile::DotOp>(op);
      if (!dot)
        continue;
      auto load = dot.getRhs().getDefiningOp<tile::LoadOp>();
      bool outside = dot.getLhs().getParentBlock() != &loop.getBody().front();
      if (load && outside && !dot.getAcc()) {
        if (lead)
          return dot.emitOpError() << "is a second product that could run ahead; the schedule has "
                                      "one";
        lead = dot;
        leadLoad = load;
      }
    }
    if (!lead)
      return loop.emitOpError() << "has no product of a loop-invariant tile and a loaded one";
    return success();
  }

  /// Vector work of the step: everything that is neither a load nor a dot.
  void emitPhase(tile::PhaseKind kind, Block &body, IRMapping &map) {
    SmallVector<Operation *> work;
    for (Operation &op : body.without_terminator())
      if (!isMatrixWork(op))
        work.push_back(&op);
    wrap(kind, map, [&] {
      SmallVector<std::pair<Value, Value>> results;
      for (Operation *op : work) {
        Operation *copy = builder.clone(*op, map);
        for (auto [old, made] : llvm::zip(op->getResults(), copy->getResults()))
          if (llvm::any_of(old.getUsers(),
                           [&](Operation *user) { return !llvm::is_contained(work, user); }))
            results.emplace_back(old, made);
      }
      return results;
    });
  }

  /// Matrix work: this step's products with their loads, then the lead of the next step.
  void emitMatrixPhase(Block &body, IRMapping &map, Value next) {
    wrap(tile::PhaseKind::Matrix, map, [&] {
      SmallVector<std::pair<Value, Value>> results;
      for (Operation &op : body.without_terminator()) {
        if (!isMatrixWork(op) || &op == lead || &op == leadLoad)
          continue;
        Operation *copy = builder.clone(op, map);
        stage(copy, 1);
        if (llvm::isa<tile::DotOp>(op))
          results.emplace_back(op.getResult(0), copy->getResult(0));
      }
      IRMapping ahead;
      ahead.map(body.getArgument(0), next);
      stage(builder.clone(*leadLoad, ahead), 0);
      Operation *copy = builder.clone(*lead, ahead);
      results.emplace_back(Value(), copy->getResult(0));
      return results;
    });
  }

  /// Each group brings one operand: its matrix phase then has one kind of memory work. It requests
  /// a tile into the buffer that was read last before the one being read; in registers, one more
  /// tile waits, or none from the end of a vector phase to the next one's start.
  void stage(Operation *op, int64_t group) {
    auto load = llvm::dyn_cast<tile::LoadOp>(op);
    if (!load)
      return;
    int64_t ahead = 1;
    if (load.getLds())
      ahead = isDma(load.getLds()->getKind()) ? load.getLds()->getBuffers() - 1
                                              : load.getLds()->getBuffers() - 2 + registerAhead;
    load.setStagingAttr(tile::StagingAttr::get(loop.getContext(), group, ahead));
  }

  void wrap(tile::PhaseKind kind, IRMapping &map,
            llvm::function_ref<SmallVector<std::pair<Value, Value>>()> emit) {
    OpBuilder::InsertionGuard guard(builder);
    Block *outer = builder.getInsertionBlock();
    Region region;
    Block *inner = builder.createBlock(&region);
    SmallVector<std::pair<Value, Value>> results = emit();
    SmallVector<Value> values;
    SmallVector<Type> types;
    for (auto [old, made] : results) {
      values.push_back(made);
      types.push_back(made.getType());
    }
    builder.setInsertionPointToEnd(inner);
    tile::YieldOp::create(builder, loop.getLoc(), values);
    builder.setInsertionPointToEnd(outer);
    auto phase =
        tile::PhaseOp::create(builder, loop.getLoc(), types, kind, builder.getArrayAttr({}));
    phase.getBody().takeBody(region);
    for (auto [pair, result] : llvm::zip(results, phase.getResults())) {
      if (pair.first)
        map.map(pair.first, result);
      else
        nextScores = result;
    }
  }

  tile::ForKeysOp loop;
  tile::AntiPhaseAttr schedule;
  int64_t registerAhead;
  OpBuilder builder;
  tile::DotOp lead;
  tile::LoadOp leadLoad;
  Value nextScores;
};

struct PipelineLoadsPass : impl::PipelineLoadsBase<PipelineLoadsPass> {
  using PipelineLoadsBase::PipelineLoadsBase;

  void runOnOperation() override {
    if (registerAhead != 1 && registerAhead != 2) {
      getOperation().emitError() << "tiles through registers " << registerAhead.getValue()
                                 << " steps ahead; want 1 or 2";
      return signalPassFailure();
    }
    auto schedule = tile::AntiPhaseAttr::get(&getContext(), 8, ring, pre);
    SmallVector<tile::ForKeysOp> loops;
    getOperation().walk([&](tile::ForKeysOp loop) { loops.push_back(loop); });
    for (tile::ForKeysOp loop : loops)
      if (failed(LoopPipeliner(loop, schedule, registerAhead).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace wavesmith::compiler
