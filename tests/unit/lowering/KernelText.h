#pragma once
// Runs the emitters and LLVM's tools for the tests of compiler/lowering, so that the tests
// themselves need no MLIR header. Every failure is text; nothing throws.

#include <string>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler::testing {

struct Produced {
  std::string text;  ///< or path
  std::string error; ///< empty when it worked
};

/// The kernel as verified LLVM IR text.
Produced emitLlvmIr(const KernelShape &shape, const Schedule &schedule, const std::string &name);
/// llc -O3 for gfx942 on it: assembly text.
Produced assembleText(const std::string &llvmIr);
/// The linked code object's path, in a directory of the process.
Produced linkObject(const std::string &llvmIr, const std::string &name);

std::string shapeName(const KernelShape &shape);

} // namespace wavesmith::compiler::testing
