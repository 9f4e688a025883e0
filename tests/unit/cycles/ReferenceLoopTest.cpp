// Steady loops of complete attention kernels: matrix-pipe occupancy against the figures that were
// found with another model of the same rules (tests/fixtures/reference/README.md).

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/emulator/ReferenceKernel.h"

namespace wavesmith::emulator {
namespace {

namespace fs = std::filesystem;

struct Kernel {
  const char *target, *dtype;
  double low, high; ///< of the occupancy, in points
};

class ReferenceLoop : public testing::TestWithParam<Kernel> {};

Expected<CodeObject> compile(const Kernel &kernel) {
  fs::path source = fs::path(WAVESMITH_REFERENCE_KERNELS) /
                    fmt::format("attention_{}_{}_d192x128_causal.ll", kernel.target, kernel.dtype);
  std::string object =
      (fs::temp_directory_path() / fmt::format("{}.{}", source.stem().string(), ::getpid()))
          .string();
  std::string command = fmt::format(
      "{} -O3 -mcpu={} -filetype=obj {} -o {}.o && {} -shared {}.o -o {}.co", WAVESMITH_LLC,
      kernel.target, source.string(), object, WAVESMITH_LD_LLD, object, object);
  if (std::system(command.c_str()) != 0)
    return error(StatusCode::Internal, "{} does not compile", source.string());
  std::ifstream stream(object + ".co", std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(stream)), {});
  fs::remove(object + ".o");
  fs::remove(object + ".co");
  auto bytes = std::as_bytes(std::span(text));
  return CodeObject::parse({bytes.begin(), bytes.end()}, source.filename().string());
}

TEST_P(ReferenceLoop, KeepsTheMatrixPipeBusy) {
  if (!fs::exists(WAVESMITH_LLC) || !fs::exists(WAVESMITH_LD_LLD))
    GTEST_SKIP() << "llc or ld.lld not found";
  const Kernel &kernel = GetParam();
  auto code = compile(kernel);
  ASSERT_TRUE(code) << code.status().message();
  test::Problem problem;
  problem.target = kernel.target;
  problem.fp8 = kernel.dtype == std::string("fp8");
  problem.lenQ = 256;
  problem.lenKv = 6144;
  RunOptions options;
  options.checks = Checks::none();
  options.modelCycles = true;
  auto outcome = test::runAttention(*code, problem, options);
  ASSERT_TRUE(outcome) << outcome.status().message();
  ASSERT_TRUE(outcome->report.modelled);
  const CycleReport &report = *outcome->report.modelled;
  ASSERT_FALSE(report.loops.empty());
  const CycleReport::Loop &loop = report.loops.front();
  std::cout << fmt::format("modelled\t{} {}\t{:.1f} %\t{:.0f} clk per iteration\t{}\t{} clk\n",
                           kernel.target, kernel.dtype, 100 * loop.mfmaOccupancy,
                           loop.cyclesPerIteration, report.boundBy, report.cycles);
  EXPECT_GE(100 * loop.mfmaOccupancy, kernel.low);
  EXPECT_LE(100 * loop.mfmaOccupancy, kernel.high);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReferenceLoop,
    testing::Values(Kernel{"gfx942", "bf16", 92.7, 98.7}, Kernel{"gfx942", "fp8", 89.2, 95.2},
                    Kernel{"gfx950", "bf16", 91.8, 97.8}, Kernel{"gfx950", "fp8", 95.5, 100}),
    [](const auto &info) { return std::string(info.param.target) + "_" + info.param.dtype; });

} // namespace
} // namespace wavesmith::emulator
