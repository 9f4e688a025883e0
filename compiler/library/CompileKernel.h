#pragma once
// Spec to code object: select, parse, run the pipeline, generate code, check it. The whole path of
// one kernel in one function; each call has its own MLIRContext, so any number run in parallel.

#include "runtime/provider/CompilerInterface.h"

namespace wavesmith::compiler {

Expected<CodeObjectBlob> compileKernel(const KernelSpec &spec, const CompileOptions &options);

/// KernelCompiler over compileKernel.
std::unique_ptr<KernelCompiler> createKernelCompiler();

} // namespace wavesmith::compiler
