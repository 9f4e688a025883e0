#pragma once
// Runs the emitters and the code generator for the tests of compiler/lowering, so that the tests
// themselves need no MLIR header. Every failure is text; nothing throws.

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler::testing {

struct Produced {
  std::vector<std::byte> bytes;
  std::string error; ///< empty when it worked
};

/// A kernel as its test names it.
struct KernelCase {
  std::string target = "gfx942";
  KernelShape shape;

  std::string name() const;
  /// The same with the target's FP8 inputs and descales.
  KernelCase withFp8() const;
  KernelCase withFloat16() const; ///< in and out
  /// What the library's table and the passes give this kernel.
  Schedule schedule() const;
};

inline void PrintTo(const KernelCase &kernel, std::ostream *stream) { *stream << kernel.name(); }

/// The linked code object of the verified kernel.
Produced buildKernel(const KernelCase &kernel, const Schedule &schedule, const std::string &name);

/// What is wrong with the kernel's pipelined loops by the schedule's own figures; empty = nothing.
std::string loopViolations(const std::vector<std::byte> &object, const std::string &name,
                           const KernelCase &kernel);

} // namespace wavesmith::compiler::testing
