#include <gtest/gtest.h>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/spec/AttentionAbi.h"
#include "tests/unit/lowering/KernelText.h"

namespace wavesmith::compiler::testing {
namespace {

class EmitAttentionTest : public ::testing::TestWithParam<KernelCase> {};

/// The whole kernel's resources, and its arguments where AttentionAbi.h puts them.
TEST_P(EmitAttentionTest, FitsTwoWavesPerSimdAndTakesTheAbisArguments) {
  Produced built = buildKernel(GetParam(), GetParam().schedule(), "k");
  ASSERT_EQ(built.error, "");
  auto object = CodeObject::parse(std::move(built.bytes), "k");
  ASSERT_TRUE(object) << object.status().message();
  ASSERT_EQ(object->kernels().size(), 1u);
  const KernelInfo &kernel = object->kernels().front();
  EXPECT_EQ(kernel.name, "k");
  EXPECT_LE(kernel.vgprs, 256u);
  EXPECT_EQ(kernel.agprs, 0u);
  EXPECT_EQ(kernel.scratchBytes, 0u);
  EXPECT_EQ(kernel.vgprSpills, 0u);
  EXPECT_EQ(kernel.sgprSpills, 0u);
  EXPECT_EQ(kernel.maxFlatWorkgroupSize, 512u);
  EXPECT_EQ(kernel.kernargBytes, sizeof(AttentionArguments));
  ASSERT_EQ(kernel.arguments.size(), 22u) << "no hidden arguments";
  EXPECT_EQ(kernel.arguments[7].offset, offsetof(AttentionArguments, work));
  EXPECT_EQ(kernel.arguments[11].offset, offsetof(AttentionArguments, qRowStride));
  EXPECT_EQ(kernel.arguments[20].offset, offsetof(AttentionArguments, scaleLog2));
}

/// Exact counts, no wait but the placed ones, nothing between barriers and MFMAs.
TEST_P(EmitAttentionTest, LoopsHoldTheScheduleAndNothingElse) {
  Produced built = buildKernel(GetParam(), GetParam().schedule(), "k");
  ASSERT_EQ(built.error, "");
  EXPECT_EQ(loopViolations(built.bytes, "k", GetParam()), "");
}

std::vector<KernelCase> allKernels() {
  std::vector<KernelCase> kernels;
  for (const char *target : {"gfx942", "gfx950"})
    for (auto [qk, v] : {std::pair{192, 128}, {128, 128}, {64, 64}, {256, 256}})
      for (bool causal : {false, true})
        for (bool split : {false, true})
          kernels.push_back({target,
                             {.headDimQk = qk,
                              .headDimV = v,
                              .causal = causal,
                              .writeLse = causal != split,
                              .splitKv = split}});
  for (std::size_t i = 0, count = kernels.size(); i < count; ++i)
    for (const KernelCase &other : {kernels[i].withFp8(), kernels[i].withFloat16()})
      kernels.push_back(other);
  return kernels;
}

INSTANTIATE_TEST_SUITE_P(Kernels, EmitAttentionTest, ::testing::ValuesIn(allKernels()),
                         ::testing::PrintToStringParamName());

} // namespace
} // namespace wavesmith::compiler::testing
