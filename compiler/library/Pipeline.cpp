#include "compiler/library/Pipeline.h"

#include <mlir/Conversion/Passes.h>

#include "compiler/lowering/AttachAliasScopes.h"
#include "compiler/passes/Passes.h"
#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith::compiler {

namespace {

void buildRowPipeline(mlir::OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createAssignRows({.rows = options.selection.rows}));
  passes.addPass(createLowerRows(
      {.target = options.target, .kernelName = options.kernelName, .threads = kRowThreads}));
  // Scalars and control are upstream's.
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createConvertMathToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
}

} // namespace

void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options) {
  // What the kernel is.
  passes.addPass(createBindParameters({.values = options.selection.parameters}));
  passes.addPass(createFoldParameters());
  if (!options.selection.schedule) {
    buildRowPipeline(passes, options);
    return;
  }
  const ScheduleRow &row = *options.selection.schedule;
  // Where it runs, and where its tiles lie.
  passes.addPass(createSelectAtoms({.target = options.target}));
  passes.addPass(createAssignLayouts());
  passes.addPass(createFormSoftmax({.sum = std::string(row.rowSum),
                                    .order = std::string(row.order),
                                    .rounding = std::string(row.rounding),
                                    .exponent = row.exponent,
                                    .threshold = row.threshold}));
  passes.addPass(
      createPlaceInLds({.keyBuffers = row.keyBuffers, .valueBuffers = row.valueBuffers}));
  // When things happen.
  passes.addPass(
      createPipelineLoads({.ring = row.ring, .pre = row.pre, .registerAhead = row.registerAhead}));
  passes.addPass(createPeelMasks());
  passes.addPass(createInsertWaits());
  // Carry it out.
  passes.addPass(createLowerTile({.kernelName = options.kernelName}));
  passes.addNestedPass<mlir::LLVM::LLVMFuncOp>(createAttachAliasScopesPass());
}

} // namespace wavesmith::compiler
