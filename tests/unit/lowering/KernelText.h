#pragma once
// Runs the emitters and the code generator for the tests of compiler/lowering, so that the tests
// themselves need no MLIR header. Every failure is text; nothing throws.

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler::testing {

struct Produced {
  std::string text;
  std::vector<std::byte> bytes;
  std::string error; ///< empty when it worked
};

/// Assembly text of the verified kernel for gfx942.
Produced assembleKernel(const KernelShape &shape, const Schedule &schedule,
                        const std::string &name);
/// The linked code object.
Produced buildKernel(const KernelShape &shape, const Schedule &schedule, const std::string &name);

std::string shapeName(const KernelShape &shape);

} // namespace wavesmith::compiler::testing
