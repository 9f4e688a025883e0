#include "tests/unit/lowering/EmulatorKernels.h"

#include <gtest/gtest.h>

namespace wavesmith::compiler::testing {

EmulatorKernels &EmulatorKernels::of(const std::string &target) {
  static std::map<std::string, EmulatorKernels> all;
  return all.try_emplace(target, target).first->second;
}

EmulatorKernels::EmulatorKernels(const std::string &target) {
  auto device = emulator::Device::create({.target = target});
  EXPECT_TRUE(device) << device.status().message();
  device_ = std::move(*device);
}

emulator::Module &EmulatorKernels::module(const KernelCase &kernel, const Schedule &schedule) {
  const std::string key =
      kernel.name() + (kernel.shape.scaled ? "/scaled/" : "/") + std::to_string(schedule.kBuffers) +
      std::to_string(schedule.vBuffers) + std::to_string(static_cast<int>(schedule.pRounding)) +
      std::to_string(static_cast<int>(schedule.rowSum)) +
      std::to_string(static_cast<int>(schedule.order)) + std::to_string(schedule.weightExponent);
  std::shared_ptr<emulator::Module> &module = modules_[key];
  if (!module) {
    Produced built = buildKernel(kernel, schedule, "k");
    EXPECT_EQ(built.error, "");
    auto object = CodeObject::parse(std::move(built.bytes), key);
    EXPECT_TRUE(object) << object.status().message();
    auto loaded = device_->load(*object);
    EXPECT_TRUE(loaded) << loaded.status().message();
    module = *loaded;
  }
  return *module;
}

AttentionResult runOnEmulator(const std::string &target, AttentionProblem problem,
                              const Schedule &schedule, const emulator::RunOptions &options) {
  EmulatorKernels &kernels = EmulatorKernels::of(target);
  problem.blockN = schedule.blockN;
  AttentionResult result = runAttention(
      kernels.device(), kernels.module({target, problem.shape}, schedule), problem, options);
  EXPECT_EQ(result.error, "");
  return result;
}

void expectAgrees(const std::string &target, const AttentionProblem &problem,
                  const Schedule &schedule, const emulator::RunOptions &options) {
  SCOPED_TRACE(target);
  const AttentionResult result = runOnEmulator(target, problem, schedule, options);
  // docs/testing.md derives the bounds. BF16: the output alone costs 1.1e-3 RMS, P about as much;
  // float16 has three bits more. LSE is float32 arithmetic on values around 10.
  const bool fp8 = !isHalf(problem.shape.element);
  const bool f16 = problem.shape.element == ElementType::F16;
  const double finer = f16 ? 0.125 : 1;
  EXPECT_LE(result.relativeRms, fp8 ? 3e-2 : 3e-3 * finer);
  EXPECT_LE(result.worstRow, fp8 ? 6e-2 : 8e-3 * finer);
  EXPECT_LE(result.worstShortRow, fp8 ? 1.5e-1 : 8e-3 * finer);
  if (!fp8 || schedule.rowSum == RowSum::Vector) {
    // Products of float16 have 22 bits, so their sums round where those of BF16 hardly do.
    EXPECT_LE(result.worstLse, f16 ? 2e-5 : 1e-5);
    EXPECT_LE(result.worstShortLse, f16 ? 2e-5 : 1e-5);
  } else {
    // The errors of rounded weights average as long as many of them count.
    const bool peaked = problem.growth > 0;
    EXPECT_LE(result.worstLse, peaked ? 6.5e-2 : 2e-2);
    EXPECT_LE(result.worstShortLse, 6.5e-2);
  }
  EXPECT_TRUE(result.emptyRowsExact);
}

} // namespace wavesmith::compiler::testing
