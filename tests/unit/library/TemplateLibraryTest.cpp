#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/library/TemplateLibrary.h"

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
  EXPECT_THAT(selection->parameters, HasSubstr("input=f8E4M3FNUZ,scaled=true"));
  EXPECT_EQ(selection->schedule->rowSum, "vector");
  fp8.attention.headDimQk = 128;
  EXPECT_EQ(select(fp8)->schedule->rowSum, "matrix");
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
