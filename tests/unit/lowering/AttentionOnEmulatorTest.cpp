#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/unit/lowering/EmulatorKernels.h"

namespace wavesmith::compiler::testing {
namespace {

const std::array kTargets{"gfx942", "gfx950"};

class AttentionOnEmulatorTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(AttentionOnEmulatorTest, OneTile) {
  expectAgrees(GetParam().target, {.shape = GetParam().shape, .sequences = {{32, 32}}});
}

TEST_P(AttentionOnEmulatorTest, FullAndMaskedTiles) {
  expectAgrees(GetParam().target,
               {.shape = GetParam().shape, .sequences = {{256, 256}}, .growth = 6});
}

TEST_P(AttentionOnEmulatorTest, TileEdges) {
  expectAgrees(GetParam().target,
               {.shape = GetParam().shape,
                .sequences = {{1, 1}, {3, 31}, {31, 33}, {33, 32}, {2, 255}, {5, 257}, {1, 0}},
                .headPadding = 8,
                .rowPadding = 24,
                .growth = 3});
}

TEST_P(AttentionOnEmulatorTest, MoreQueriesThanKeys) {
  expectAgrees(GetParam().target,
               {.shape = GetParam().shape, .sequences = {{300, 40}, {257, 1}, {40, 33}, {7, 0}}});
}

TEST_P(AttentionOnEmulatorTest, GroupedHeadsAndSeveralBlocks) {
  expectAgrees(GetParam().target, {.shape = GetParam().shape,
                                   .sequences = {{255, 100}, {513, 390}},
                                   .heads = 3,
                                   .kvHeads = 1,
                                   .headPadding = 16,
                                   .growth = 4});
}

std::vector<KernelCase> kernelCases() {
  std::vector<KernelCase> all;
  for (const char *target : kTargets)
    for (auto [qk, v] : {std::pair{192, 128}, {128, 128}, {64, 64}, {256, 256}})
      for (bool causal : {false, true})
        if (causal || qk != 256) // the dearest; random calls cover the rest
          all.push_back({target, {.headDimQk = qk, .headDimV = v, .causal = causal}});
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    all.push_back(all[i].withFp8());
    if (all[i].shape.causal)
      all.push_back(all[i].withFloat16());
  }
  // Results of one type from inputs of another.
  for (const char *target : kTargets) {
    all.push_back(KernelCase{target, {.causal = true}}.withFp8());
    all.back().shape.output = ElementType::F16;
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionOnEmulatorTest, ::testing::ValuesIn(kernelCases()),
                         ::testing::PrintToStringParamName());

class SplitOnEmulatorTest : public ::testing::TestWithParam<KernelCase> {};

TEST_P(SplitOnEmulatorTest, PartsMerge) {
  KernelShape shape = GetParam().shape;
  shape.splitKv = true;
  expectAgrees(GetParam().target, {.shape = shape,
                                   .sequences = {{40, 330}, {257, 70}, {5, 20}},
                                   .heads = 2,
                                   .kvHeads = 2,
                                   .splits = 3,
                                   .rowPadding = 8,
                                   .growth = 3});
}

TEST_P(SplitOnEmulatorTest, WholeUnitsStillWriteTheOutput) {
  KernelShape shape = GetParam().shape;
  shape.splitKv = true;
  expectAgrees(GetParam().target, {.shape = shape, .sequences = {{40, 130}}});
}

INSTANTIATE_TEST_SUITE_P(Kernels, SplitOnEmulatorTest, ::testing::ValuesIn(kernelCases()),
                         ::testing::PrintToStringParamName());

class AttentionVariantsOnEmulatorTest : public ::testing::TestWithParam<const char *> {};

TEST_P(AttentionVariantsOnEmulatorTest, WithoutLse) {
  expectAgrees(GetParam(), {.shape = {.causal = true, .writeLse = false}, .sequences = {{70, 90}}});
}

TEST(AttentionSchedulesOnEmulatorTest, OneKeyBufferMoreOrLess) {
  const AttentionProblem problem{.shape = {.causal = true}, .sequences = {{256, 300}}, .growth = 4};
  expectAgrees("gfx942", problem, {.kBuffers = 3, .keyWaits = {.vmem = 12}});
  Schedule fewer = KernelCase{"gfx950", problem.shape}.schedule();
  fewer.kBuffers = 2;
  fewer.vBuffers = 3;
  fewer.keyWaits.vmem = fewer.valueWaits.vmem = 0;
  expectAgrees("gfx950", problem, fewer);
}

TEST(AttentionSchedulesOnEmulatorTest, EveryRoundingOfWeights) {
  for (const PRounding rounding :
       {PRounding::Nearest, PRounding::NearestEven, PRounding::Truncated})
    expectAgrees("gfx942", {.shape = {.causal = true}, .sequences = {{256, 300}}, .growth = 4},
                 Schedule{.pRounding = rounding});
}

TEST_P(AttentionVariantsOnEmulatorTest, ANeighboursNanStaysThere) {
  for (bool causal : {false, true})
    expectAgrees(GetParam(), {.shape = {.causal = causal},
                              .sequences = {{33, 70}, {50, 45}, {20, 37}},
                              .heads = 2,
                              .kvHeads = 2,
                              .nanSequence = 1});
}

/// A rescale that other rows of the wave need must not change a row's bits.
TEST_P(AttentionVariantsOnEmulatorTest, ARowsBitsAreItsOwn) {
  AttentionProblem problem{.shape = {.causal = true}, .sequences = {{64, 300}}, .growth = 4};
  AttentionResult one = runOnEmulator(GetParam(), problem);
  problem.otherQueries = 16;
  AttentionResult other = runOnEmulator(GetParam(), problem);
  EXPECT_EQ(one.rowFive, other.rowFive);
}

TEST_P(AttentionVariantsOnEmulatorTest, KeysPastFourGigabytes) {
  expectAgrees(GetParam(), {.shape = {.headDimQk = 64, .headDimV = 64},
                            .sequences = {{40, 1200}, {20, 1000}},
                            .keyRowBytes = std::int64_t{3} << 20});
}

/// More than a device has, which the emulator's sparse memory does not mind.
TEST_P(AttentionVariantsOnEmulatorTest, HeadsATerabyteApart) {
  const KernelShape shape{.headDimQk = 64, .headDimV = 64, .causal = true};
  for (const KernelCase &kernel :
       {KernelCase{GetParam(), shape}, KernelCase{GetParam(), shape}.withFp8()})
    expectAgrees(GetParam(), {.shape = kernel.shape,
                              .sequences = {{40, 120}, {20, 300}},
                              .heads = 2,
                              .kvHeads = 2,
                              .headBytes = std::int64_t{1} << 40});
}

TEST_P(AttentionVariantsOnEmulatorTest, AnyOrderOfExecution) {
  for (const char *order : {"vmem-early,lds-late,run-to-barrier", "vmem-late,lds-late,preemptive",
                            "vmem-late,lockstep,poison", "vmem-early,preemptive,poison"}) {
    SCOPED_TRACE(order);
    auto parsed = emulator::ExecutionOrder::parse(order);
    ASSERT_TRUE(parsed) << parsed.status().message();
    emulator::RunOptions options;
    options.order = *parsed;
    expectAgrees(GetParam(), {.shape = {.causal = true}, .sequences = {{256, 300}}, .growth = 4},
                 options);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, AttentionVariantsOnEmulatorTest, ::testing::ValuesIn(kTargets),
                         [](const auto &info) { return std::string(info.param); });

/// The checks that pass above must be able to fail: the same kernel with an instruction taken out.
TEST(AttentionChecksOnEmulatorTest, MissingWaitsAndBarriersAreFaults) {
  constexpr std::uint32_t kNop = 0xBF800000, kBarrier = 0xBF8A0000;
  // The waits that publish K and V: of vector memory and of LDS, or of both streams' DMA.
  constexpr std::uint32_t kVmcnt0 = 0xBF8C0F70, kLgkmcnt3 = 0xBF8CC37F, kVmcnt6 = 0xBF8C0F76,
                          kVmcnt4 = 0xBF8C0F74;
  for (const auto &[target, removals] :
       {std::pair{"gfx942", std::array{kVmcnt0, kLgkmcnt3, kBarrier}},
        std::pair{"gfx950", std::array{kVmcnt6, kVmcnt4, kBarrier}}}) {
    const KernelCase kernel{target, {.causal = true}};
    const Produced built = buildKernel(kernel, kernel.schedule(), "k");
    ASSERT_EQ(built.error, "");
    for (std::uint32_t removed : removals) {
      SCOPED_TRACE(std::string(target) + " " + std::to_string(removed));
      std::vector<std::byte> bytes = built.bytes;
      int count = 0;
      for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4)
        if (std::memcmp(&bytes[at], &removed, 4) == 0) {
          std::memcpy(&bytes[at], &kNop, 4);
          ++count;
        }
      EXPECT_GT(count, 0);
      auto object = CodeObject::parse(std::move(bytes), "mutilated");
      ASSERT_TRUE(object) << object.status().message();
      emulator::Device &device = EmulatorKernels::of(target).device();
      auto module = device.load(*object);
      ASSERT_TRUE(module) << module.status().message();
      AttentionResult result =
          runAttention(device, **module, {.shape = kernel.shape, .sequences = {{256, 300}}}, {});
      EXPECT_NE(result.error, "");
    }
  }
}

TEST(AttentionRandomOnEmulatorTest, RandomLengths) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> length(0, 300);
  for (const KernelCase &kernel : kernelCases()) {
    SCOPED_TRACE(kernel.name());
    AttentionProblem problem{.shape = kernel.shape, .heads = 2, .kvHeads = 1, .growth = 5};
    for (int s = 0; s < 4; ++s)
      problem.sequences.push_back({length(random), length(random)});
    expectAgrees(kernel.target, problem);
  }
}

} // namespace
} // namespace wavesmith::compiler::testing
