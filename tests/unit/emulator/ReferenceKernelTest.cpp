// Complete attention kernels, compiled by llc from LLVM IR, in every execution order with every
// check on: what the emulator does with code that no part of the project made, in a build without
// the compiler too.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/unit/emulator/ReferenceKernel.h"

namespace wavesmith::emulator {
namespace {

namespace fs = std::filesystem;

struct Kernel {
  const char *target, *dtype;
  double bound; ///< of the relative RMS error
};

void PrintTo(const Kernel &kernel, std::ostream *stream) {
  *stream << kernel.target << " " << kernel.dtype;
}

class ReferenceKernel : public testing::TestWithParam<Kernel> {};

TEST_P(ReferenceKernel, MatchesFloat64InEveryOrder) {
  const Kernel &kernel = GetParam();
  if (!fs::exists(WAVESMITH_LLC) || !fs::exists(WAVESMITH_LD_LLD))
    GTEST_SKIP() << "llc or ld.lld not found";
  fs::path source =
      fs::path(WAVESMITH_REFERENCE_KERNELS) /
      (std::string("attention_") + kernel.target + "_" + kernel.dtype + "_d192x128_causal.ll");
  std::string object = (fs::temp_directory_path() /
                        (source.stem().string() + "." + std::to_string(::getpid()) + ".o"))
                           .string();
  std::string compile = std::string(WAVESMITH_LLC) + " -O3 -mcpu=" + kernel.target +
                        " -filetype=obj " + source.string() + " -o " + object + " && " +
                        WAVESMITH_LD_LLD + " -shared " + object + " -o " + object + ".co";
  ASSERT_EQ(std::system(compile.c_str()), 0);
  std::ifstream stream(object + ".co", std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(stream)), {});
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  fs::remove(object);
  fs::remove(object + ".co");
  auto code = CodeObject::parse(bytes, source.filename().string());
  ASSERT_TRUE(code) << code.status().message();

  test::Problem problem;
  problem.target = kernel.target;
  problem.fp8 = kernel.dtype == std::string("fp8");
  problem.lenQ = 300;
  problem.lenKv = 333;
  for (const char *order :
       {"default", "vmem-early", "vmem-early,lds-late", "lds-late,poison", "run-to-barrier,poison",
        "preemptive,poison", "preemptive,lds-late,vmem-early"})
    for (int splits : {1, 2}) {
      SCOPED_TRACE(std::string(order) + ", splits " + std::to_string(splits));
      problem.splits = splits;
      RunOptions options;
      options.order = *ExecutionOrder::parse(order);
      auto outcome = test::runAttention(*code, problem, options);
      ASSERT_TRUE(outcome) << outcome.status().message();
      EXPECT_LT(outcome->outRelativeRms, kernel.bound);
      EXPECT_LT(outcome->lseMaxAbs, problem.fp8 ? 2e-2 : 1e-5);
      EXPECT_TRUE(outcome->report.clean()) << outcome->report.faults.front().text();
    }
  // The other way to add matrix products meets the same bounds.
  SCOPED_TRACE("mfma=cdna3");
  problem.splits = 1;
  problem.lenQ = 64;
  RunOptions options;
  options.matrixSums = MatrixSums::Cdna3;
  auto grouped = test::runAttention(*code, problem, options);
  ASSERT_TRUE(grouped) << grouped.status().message();
  EXPECT_LT(grouped->outRelativeRms, kernel.bound);
  EXPECT_LT(grouped->lseMaxAbs, problem.fp8 ? 2e-2 : 1e-5);
  EXPECT_TRUE(grouped->report.clean());
}

INSTANTIATE_TEST_SUITE_P(
    All, ReferenceKernel,
    testing::Values(Kernel{"gfx942", "bf16", 4e-3}, Kernel{"gfx942", "fp8", 4e-2},
                    Kernel{"gfx950", "bf16", 4e-3}, Kernel{"gfx950", "fp8", 4e-2}),
    [](const auto &info) { return std::string(info.param.target) + "_" + info.param.dtype; });

} // namespace
} // namespace wavesmith::emulator
