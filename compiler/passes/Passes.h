#pragma once
// The passes between a template and LLVM's dialect, declared in Passes.td, in pipeline order in
// Pipeline.cpp. Each writes its decisions into the IR and knows nothing of the others but that.

#include <memory>

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Pass/PassManager.h>

namespace wavesmith::compiler {

#define GEN_PASS_DECL
#include "compiler/passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/passes/Passes.h.inc"

} // namespace wavesmith::compiler
