#include <algorithm>

#include <gtest/gtest.h>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/spec/AttentionAbi.h"
#include "tests/unit/lowering/KernelText.h"
#include "tests/unit/lowering/LoopText.h"

namespace wavesmith::compiler::testing {
namespace {

class EmitAttentionTest : public ::testing::TestWithParam<KernelShape> {};

/// The whole kernel's resources, and its arguments where AttentionAbi.h puts them.
TEST_P(EmitAttentionTest, FitsTwoWavesPerSimdAndTakesTheAbisArguments) {
  Produced built = buildKernel(GetParam(), Schedule(), "k");
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

/// What the loops may contain: facts of the schedule, counted in the machine code.
TEST_P(EmitAttentionTest, LoopsHoldTheScheduleAndNothingElse) {
  const KernelShape &shape = GetParam();
  Produced assembly = assembleKernel(shape, Schedule(), "k");
  ASSERT_EQ(assembly.error, "");
  std::vector<MainLoop> loops = mainLoops(assembly.text);
  ASSERT_EQ(loops.size(), 4u) << "full and masked tiles of two groups";
  const int keyFragments = shape.headDimQk / 16, valueFragments = shape.headDimV / 16;
  int masked = 0, bringingKeys = 0;
  for (const MainLoop &loop : loops) {
    const bool isMasked = loop.count("v_cndmask") > 0;
    const bool bringsKeys = loop.count("ds_write") == 0;
    masked += isMasked;
    bringingKeys += bringsKeys;
    SCOPED_TRACE(std::string(isMasked ? "masked " : "full ") + (bringsKeys ? "K" : "V"));
    EXPECT_EQ(loop.count("v_mfma"), 2 * (keyFragments + valueFragments));
    EXPECT_EQ(loop.count("ds_read_b128"), keyFragments + valueFragments);
    EXPECT_EQ(loop.count("ds_read"), keyFragments + valueFragments);
    EXPECT_EQ(loop.count("v_exp_f32"), 16);
    EXPECT_EQ(loop.count("buffer_load_dword"), bringsKeys ? keyFragments : shape.headDimV / 16);
    for (const char *unwanted : {"v_pk_", "v_readfirstlane", "v_accvgpr", "scratch_", "v_mov",
                                 "s_load", "ds_bpermute", "v_readlane", "v_writelane"})
      EXPECT_EQ(loop.count(unwanted), 0) << unwanted;
    const int perms = bringsKeys ? 0 : shape.headDimV / 16;
    EXPECT_LE(loop.vectorAlu(), 80 + 5 + perms + (isMasked ? 33 : 0));
    EXPECT_EQ(loop.count("v_cmp"), isMasked ? 17 : 1);

    // The matrix phase: opens right behind its barrier, closes right before the next.
    const int open = loop.find("s_barrier", 0), close = loop.find("s_barrier", 1);
    EXPECT_LE(loop.find("v_mfma") - open, 3);
    EXPECT_EQ(close - loop.findLast("v_mfma"), 1);
    // Counted waits only; everything is drained once, by the last fragment.
    std::vector<int> lds = loop.waits("lgkmcnt");
    EXPECT_EQ(std::count(lds.begin(), lds.end(), 0), 1);
    EXPECT_EQ(lds.back(), 0);
    // Memory is waited for where K is published, and where V leaves its registers.
    std::vector<int> memory = loop.waits("vmcnt");
    EXPECT_EQ(std::count(memory.begin(), memory.end(), 0), 1);
    EXPECT_EQ(memory.back(), 0);
  }
  EXPECT_EQ(masked, 2);
  EXPECT_EQ(bringingKeys, 2);
}

std::vector<KernelShape> allShapes() {
  std::vector<KernelShape> shapes;
  for (auto [qk, v] : {std::pair{192, 128}, {128, 128}, {64, 64}})
    for (bool causal : {false, true})
      for (bool split : {false, true})
        shapes.push_back({.headDimQk = qk,
                          .headDimV = v,
                          .causal = causal,
                          .writeLse = causal != split,
                          .splitKv = split});
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Shapes, EmitAttentionTest, ::testing::ValuesIn(allShapes()),
                         [](const auto &info) { return shapeName(info.param); });

} // namespace
} // namespace wavesmith::compiler::testing
