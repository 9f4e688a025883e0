#pragma once
// The pass pipeline from a template to the LLVM and ROCDL dialects, in one place and one order.

#include <string>

#include <mlir/Pass/PassManager.h>

#include "compiler/library/TemplateLibrary.h"

namespace wavesmith::compiler {

struct PipelineOptions {
  std::string target;     ///< "gfx942"
  std::string kernelName; ///< symbol of the kernel
  Selection selection;
};

void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

} // namespace wavesmith::compiler
