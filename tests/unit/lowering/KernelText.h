#pragma once
// Runs the emitters and the code generator for the tests of compiler/lowering, so that the tests
// themselves need no MLIR header. Every failure is text; nothing throws.

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler::testing {

struct Produced {
  std::vector<std::byte> bytes;
  std::string error; ///< empty when it worked
};

/// The linked code object of the verified kernel for gfx942.
Produced buildKernel(const KernelShape &shape, const Schedule &schedule, const std::string &name);

/// What is wrong with the kernel's pipelined loops by the schedule's own figures; empty = nothing.
std::string loopViolations(const std::vector<std::byte> &object, const std::string &name,
                           const KernelShape &shape);

std::string shapeName(const KernelShape &shape);

} // namespace wavesmith::compiler::testing
