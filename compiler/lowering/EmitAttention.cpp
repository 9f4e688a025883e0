#include "compiler/lowering/EmitAttention.h"

#include <mlir/Pass/PassManager.h>

#include "compiler/lowering/AntiPhaseLoop.h"
#include "compiler/lowering/AttachAliasScopes.h"
#include "compiler/lowering/Epilogue.h"

namespace wavesmith::compiler {

using namespace mlir;

void emitAttention(ModuleOp module, StringRef name, const KernelShape &shape,
                   const Schedule &schedule, const TargetFacts &target, const KeyLimits &limits) {
  KernelFrame frame(module, name, shape, schedule, target, limits);
  Emitter &e = frame.emit();
  QueryFragments query(frame);
  Epilogue epilogue(frame);

  // Everything after the branch exists once per group: registers are allocated independently and
  // no copies join the groups' values. Of values before it LLVM would keep those of the group that
  // stands last through the other one's loops.
  Block *groupA = e.newBlock({}), *groupB = e.newBlock({}), *done = e.newBlock({});
  const int groupWaves = schedule.waves / 2;
  Value inA = e.compare(LLVM::ICmpPredicate::ult, frame.wave(), e.constant(groupWaves));
  e.branchIf(inA, groupA, {}, groupB, {});
  for (auto [block, group] :
       {std::pair{groupA, WaveGroup::Keys}, std::pair{groupB, WaveGroup::Values}}) {
    e.setBlock(block);
    frame.renewIds();
    const std::unique_ptr<TileStream> keys = TileStream::keys(frame);
    const std::unique_ptr<TileStream> values = TileStream::values(frame);
    AntiPhaseLoop loop(frame, query, *keys, *values, ScoreFunctions::of(frame));
    LoopState state = loop.emitPrologue(group);
    Value own = frame.groupTiles(group == WaveGroup::Keys ? 0 : 1);
    // Tiles before a group's first key are not idle, since QK must run a tile ahead; at their end
    // the other group's rows have begun, and its phases would take their time anyway.
    if (Value leading = frame.leadingTiles(group == WaveGroup::Keys ? 0 : 1))
      state = loop.emitLoop(group, std::move(state), e.minimum(leading, own), TileKind::Masked);
    state =
        loop.emitLoop(group, std::move(state), e.minimum(frame.fullTiles(), own), TileKind::Full);
    state = loop.emitLoop(group, std::move(state), own, TileKind::Masked);
    state = loop.emitLoop(group, std::move(state), frame.allTiles(), TileKind::Idle);
    loop.emitClosing(group);
    epilogue.emit(state.outputs, state.softmax);
    e.branch(done, {});
  }
  e.setBlock(done);
  LLVM::ReturnOp::create(e.builder(), ValueRange());
}

OwningOpRef<ModuleOp> emitAttention(const KernelShape &shape, const Schedule &schedule,
                                    const TargetFacts &target, StringRef name,
                                    MLIRContext &context) {
  context.loadDialect<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  if (std::string reason = unsupportedReason(shape, schedule, target); !reason.empty()) {
    module->emitError() << reason;
    return nullptr;
  }
  KeyLimits limits;
  if (shape.causal)
    limits.last.emplace_back([](KernelFrame &frame, Value query) {
      Emitter &e = frame.emit();
      return e.add(query, e.sub(frame.unit().lenKv, frame.unit().lenQ));
    });
  emitAttention(*module, name, shape, schedule, target, limits);
  PassManager passes(&context);
  passes.addNestedPass<LLVM::LLVMFuncOp>(createAttachAliasScopesPass());
  if (failed(passes.run(*module)))
    return nullptr;
  return module;
}

} // namespace wavesmith::compiler
