#pragma once
// Kernels straight from the emitters on an emulated device of each target, each built once a
// process, and the comparison that the tests of compiler/lowering make. Failures are GoogleTest's.

#include <map>
#include <memory>
#include <string>

#include "tests/unit/lowering/AttentionProblem.h"
#include "tests/unit/lowering/KernelText.h"

namespace wavesmith::compiler::testing {

/// A device of one target and every kernel that the process has built on it.
class EmulatorKernels {
public:
  static EmulatorKernels &of(const std::string &target);
  explicit EmulatorKernels(const std::string &target);

  emulator::Device &device() { return *device_; }
  emulator::Module &module(const KernelCase &kernel, const Schedule &schedule);

private:
  std::unique_ptr<emulator::Device> device_;
  std::map<std::string, std::shared_ptr<emulator::Module>> modules_;
};

/// Without a schedule: the kernel's own.
AttentionResult runOnEmulator(const std::string &target, AttentionProblem problem,
                              const Schedule &schedule, const emulator::RunOptions &options = {});
inline AttentionResult runOnEmulator(const std::string &target, const AttentionProblem &problem,
                                     const emulator::RunOptions &options = {}) {
  return runOnEmulator(target, problem, KernelCase{target, problem.shape}.schedule(), options);
}

/// And its errors are within their bounds.
void expectAgrees(const std::string &target, const AttentionProblem &problem,
                  const Schedule &schedule, const emulator::RunOptions &options = {});
inline void expectAgrees(const std::string &target, const AttentionProblem &problem,
                         const emulator::RunOptions &options = {}) {
  expectAgrees(target, problem, KernelCase{target, problem.shape}.schedule(), options);
}

} // namespace wavesmith::compiler::testing
