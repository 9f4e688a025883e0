#include "compiler/library/Pipeline.h"

#include "compiler/lowering/AttachAliasScopes.h"
#include "compiler/passes/Passes.h"

namespace wavesmith::compiler {

void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options) {
  const ScheduleRow &row = *options.selection.schedule;
  // What the kernel is.
  passes.addPass(createBindParameters({.values = options.selection.parameters}));
  passes.addPass(createFoldParameters());
  // Where it runs, and where its tiles lie.
  passes.addPass(createSelectAtoms({.target = options.target}));
  passes.addPass(createAssignLayouts());
  passes.addPass(createPlaceInLds({.ring = row.ring, .pre = row.pre}));
  // When things happen.
  passes.addPass(
      createPipelineLoads({.ring = row.ring, .pre = row.pre, .threshold = row.threshold}));
  passes.addPass(createPeelMasks());
  passes.addPass(createInsertWaits());
  // Carry it out.
  passes.addPass(createLowerTile({.kernelName = options.kernelName}));
  passes.addNestedPass<mlir::LLVM::LLVMFuncOp>(createAttachAliasScopesPass());
}

} // namespace wavesmith::compiler
