#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/library/TemplateLibrary.h"
#include "runtime/spec/KernelFamily.h"

namespace wavesmith::compiler {
namespace {

using ::testing::HasSubstr;

KernelSpec spec() {
  return {.target = "gfx942",
          .attention = {.dtype = DType::BF16, .headDimQk = 192, .headDimV = 128, .causal = true}};
}

TEST(TemplateLibrary, BuiltinTextIsTheFile) {
  auto text = templateText("attention", "");
  ASSERT_TRUE(text) << text.status().message();
  EXPECT_THAT(*text, HasSubstr("tile.kernel @attention"));
}

TEST(TemplateLibrary, UnknownTemplateIsNamed) {
  auto text = templateText("conv", "");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.status().code(), StatusCode::NotFound);
  EXPECT_THAT(text.status().message(), HasSubstr("'conv'"));
}

TEST(TemplateLibrary, MissingDirectoryIsAnErrorNamingTheFile) {
  auto text = templateText("attention", "/nowhere");
  ASSERT_FALSE(text);
  EXPECT_THAT(text.status().message(), HasSubstr("/nowhere/attention.mlir"));
}

TEST(TemplateLibrary, SelectsParametersFromTheSpec) {
  auto selection = select(spec());
  ASSERT_TRUE(selection) << selection.status().message();
  EXPECT_EQ(selection->templateName, "attention");
  EXPECT_THAT(selection->parameters, HasSubstr("head_dim_qk=192"));
  EXPECT_THAT(selection->parameters, HasSubstr("head_dim_v=128"));
  EXPECT_THAT(selection->parameters, HasSubstr("causal=true"));
}

TEST(TemplateLibrary, EachTargetHasItsSchedule) {
  for (const Target &target : knownTargets()) {
    KernelSpec one = spec();
    one.target = target.name;
    auto selection = select(one);
    ASSERT_TRUE(selection) << selection.status().message();
    EXPECT_EQ(selection->schedule->target, target.name);
    EXPECT_THAT(selection->parameters,
                HasSubstr("block_n=" + std::to_string(selection->schedule->blockN)));
  }
}

TEST(TemplateLibrary, Fp8HasScaledInputsAndASumByHeadDim) {
  KernelSpec fp8 = spec();
  fp8.attention.dtype = DType::FP8;
  auto selection = select(fp8);
  ASSERT_TRUE(selection) << selection.status().message();
  EXPECT_THAT(selection->parameters, HasSubstr("block_n=64"));
  EXPECT_THAT(selection->parameters, HasSubstr("input=f8E4M3FNUZ,output=bf16,scaled=true"));
  EXPECT_EQ(selection->schedule->rowSum, "vector");
  fp8.attention.headDimQk = 128;
  EXPECT_EQ(select(fp8)->schedule->rowSum, "matrix");
}

/// BF16's schedules in everything but the factor of the weights.
TEST(TemplateLibrary, Float16HasTheSchedulesOfBf16) {
  for (const Target &target : knownTargets())
    for (const HeadDims &dims : headDims()) {
      KernelSpec half = spec();
      half.target = target.name;
      half.attention.headDimQk = dims.qk;
      half.attention.headDimV = dims.v;
      const auto bf16 = select(half);
      half.attention.dtype = DType::F16;
      const auto f16 = select(half);
      ASSERT_TRUE(bf16 && f16) << f16.status().message();
      EXPECT_EQ(f16->schedule->dtype, DType::F16);
      EXPECT_EQ(f16->schedule->target, target.name);
      EXPECT_EQ(f16->schedule->headDimQk, bf16->schedule->headDimQk);
      EXPECT_EQ(f16->schedule->blockN, bf16->schedule->blockN);
      EXPECT_LE(f16->schedule->exponent + f16->schedule->threshold, std::log2(65504.0));
      EXPECT_THAT(f16->parameters, HasSubstr("input=f16,output=f16,scaled=false"));
    }
}

TEST(TemplateLibrary, ResultsOfFp8AreOfTheCallsType) {
  KernelSpec fp8 = spec();
  fp8.attention.dtype = DType::FP8;
  EXPECT_THAT(select(fp8)->parameters, HasSubstr("output=bf16"));
  fp8.attention.f16Out = true;
  EXPECT_THAT(select(fp8)->parameters, HasSubstr("output=f16"));
}

TEST(TemplateLibrary, UnknownScheduleListsTheKnownOnes) {
  KernelSpec unknown = spec();
  unknown.schedule = "fancy";
  auto selection = select(unknown);
  ASSERT_FALSE(selection);
  EXPECT_THAT(selection.status().message(), HasSubstr("fancy"));
  EXPECT_THAT(selection.status().message(), HasSubstr("default"));
}

TEST(TemplateLibrary, InvalidSpecIsRefused) {
  KernelSpec odd = spec();
  odd.attention.headDimQk = 100;
  EXPECT_FALSE(select(odd));
}

} // namespace
} // namespace wavesmith::compiler
