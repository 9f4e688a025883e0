#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "tests/unit/lowering/AttentionProblem.h"
#include "tests/unit/lowering/KernelText.h"

namespace wavesmith::compiler::testing {
namespace {

/// One device and every kernel that the process has built on it.
class Kernels {
public:
  static Kernels &get() {
    static Kernels kernels;
    return kernels;
  }

  emulator::Device &device() { return *device_; }
  emulator::Module &module(const KernelShape &shape, const Schedule &schedule = {}) {
    std::string key = shapeName(shape) + "/" + std::to_string(schedule.kBuffers) +
                      std::to_string(static_cast<int>(schedule.pRounding));
    std::shared_ptr<emulator::Module> &module = modules_[key];
    if (!module) {
      Produced built = buildKernel(shape, schedule, "k");
      EXPECT_EQ(built.error, "");
      auto object = CodeObject::parse(std::move(built.bytes), key);
      EXPECT_TRUE(object) << object.status().message();
      auto loaded = device_->load(*object);
      EXPECT_TRUE(loaded) << loaded.status().message();
      module = *loaded;
    }
    return *module;
  }

private:
  Kernels() {
    auto device = emulator::Device::create({.target = "gfx942"});
    EXPECT_TRUE(device) << device.status().message();
    device_ = std::move(*device);
  }
  std::unique_ptr<emulator::Device> device_;
  std::map<std::string, std::shared_ptr<emulator::Module>> modules_;
};

/// bf16 output alone costs 1.1e-3 RMS, bf16 P about as much; a row's worst is a few times that.
/// LSE is float32 arithmetic on values around 10.
void expectAgrees(const AttentionProblem &problem, const Schedule &schedule = {},
                  const emulator::RunOptions &options = {}) {
  Kernels &kernels = Kernels::get();
  AttentionResult result =
      runAttention(kernels.device(), kernels.module(problem.shape, schedule), problem, options);
  EXPECT_EQ(result.error, "");
  EXPECT_LE(result.relativeRms, 3e-3);
  EXPECT_LE(result.worstRow, 8e-3);
  EXPECT_LE(result.worstLse, 1e-5);
  EXPECT_TRUE(result.emptyRowsExact);
}

class AttentionOnEmulatorTest : public ::testing::TestWithParam<KernelShape> {};

TEST_P(AttentionOnEmulatorTest, OneTile) {
  expectAgrees({.shape = GetParam(), .sequences = {{32, 32}}});
}

TEST_P(AttentionOnEmulatorTest, FullAndMaskedTiles) {
  expectAgrees({.shape = GetParam(), .sequences = {{256, 256}}, .growth = 6});
}

TEST_P(AttentionOnEmulatorTest, TileEdges) {
  expectAgrees({.shape = GetParam(),
                .sequences = {{1, 1}, {3, 31}, {31, 33}, {33, 32}, {2, 255}, {5, 257}, {1, 0}},
                .headPadding = 8,
                .rowPadding = 24,
                .growth = 3});
}

TEST_P(AttentionOnEmulatorTest, MoreQueriesThanKeys) {
  expectAgrees({.shape = GetParam(), .sequences = {{300, 40}, {257, 1}, {40, 33}, {7, 0}}});
}

TEST_P(AttentionOnEmulatorTest, GroupedHeadsAndSeveralBlocks) {
  expectAgrees({.shape = GetParam(),
                .sequences = {{255, 100}, {513, 390}},
                .heads = 3,
                .kvHeads = 1,
                .headPadding = 16,
                .growth = 4});
}

std::vector<KernelShape> shapes() {
  std::vector<KernelShape> all;
  for (auto [qk, v] : {std::pair{192, 128}, {128, 128}, {64, 64}})
    for (bool causal : {false, true})
      all.push_back({.headDimQk = qk, .headDimV = v, .causal = causal});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionOnEmulatorTest, ::testing::ValuesIn(shapes()),
                         [](const auto &info) { return shapeName(info.param); });

class SplitOnEmulatorTest : public ::testing::TestWithParam<KernelShape> {};

TEST_P(SplitOnEmulatorTest, PartsMerge) {
  KernelShape shape = GetParam();
  shape.splitKv = true;
  expectAgrees({.shape = shape,
                .sequences = {{40, 330}, {257, 70}, {5, 20}},
                .heads = 2,
                .kvHeads = 2,
                .splits = 3,
                .rowPadding = 8,
                .growth = 3});
}

TEST_P(SplitOnEmulatorTest, WholeUnitsStillWriteTheOutput) {
  KernelShape shape = GetParam();
  shape.splitKv = true;
  expectAgrees({.shape = shape, .sequences = {{40, 130}}});
}

INSTANTIATE_TEST_SUITE_P(Shapes, SplitOnEmulatorTest, ::testing::ValuesIn(shapes()),
                         [](const auto &info) { return shapeName(info.param); });

TEST(AttentionVariantsOnEmulatorTest, WithoutLse) {
  expectAgrees({.shape = {.causal = true, .writeLse = false}, .sequences = {{70, 90}}});
}

TEST(AttentionVariantsOnEmulatorTest, ThreeKeyBuffers) {
  expectAgrees({.shape = {.causal = true}, .sequences = {{256, 300}}, .growth = 4},
               {.kBuffers = 3, .keyWait = 12});
}

TEST(AttentionVariantsOnEmulatorTest, TiesToEven) {
  expectAgrees({.shape = {.causal = true}, .sequences = {{256, 300}}, .growth = 4},
               {.pRounding = PRounding::NearestEven});
}

TEST(AttentionVariantsOnEmulatorTest, ANeighboursNanStaysThere) {
  for (bool causal : {false, true})
    expectAgrees({.shape = {.causal = causal},
                  .sequences = {{33, 70}, {50, 45}, {20, 37}},
                  .heads = 2,
                  .kvHeads = 2,
                  .nanSequence = 1});
}

/// A rescale that other rows of the wave need must not change a row's bits.
TEST(AttentionVariantsOnEmulatorTest, ARowsBitsAreItsOwn) {
  Kernels &kernels = Kernels::get();
  AttentionProblem problem{.shape = {.causal = true}, .sequences = {{64, 300}}, .growth = 4};
  AttentionResult one = runAttention(kernels.device(), kernels.module(problem.shape), problem, {});
  problem.otherQueries = 16;
  AttentionResult other =
      runAttention(kernels.device(), kernels.module(problem.shape), problem, {});
  EXPECT_EQ(one.error + other.error, "");
  EXPECT_EQ(one.rowFive, other.rowFive);
}

TEST(AttentionVariantsOnEmulatorTest, KeysPastFourGigabytes) {
  expectAgrees({.shape = {.headDimQk = 64, .headDimV = 64},
                .sequences = {{40, 1200}, {20, 1000}},
                .keyRowBytes = std::int64_t{3} << 20});
}

TEST(AttentionVariantsOnEmulatorTest, AnyOrderOfExecution) {
  for (const char *order : {"vmem-early,lds-late,run-to-barrier", "vmem-late,lds-late,preemptive",
                            "vmem-late,lockstep,poison", "vmem-early,preemptive,poison"}) {
    SCOPED_TRACE(order);
    auto parsed = emulator::ExecutionOrder::parse(order);
    ASSERT_TRUE(parsed) << parsed.status().message();
    emulator::RunOptions options;
    options.order = *parsed;
    expectAgrees({.shape = {.causal = true}, .sequences = {{256, 300}}, .growth = 4}, {}, options);
  }
}

/// The checks that pass above must be able to fail: the same kernel with an instruction taken out.
TEST(AttentionVariantsOnEmulatorTest, MissingWaitsAndBarriersAreFaults) {
  constexpr std::uint32_t kNop = 0xBF800000, kWaitVmcnt0 = 0xBF8C0F70, kWaitLgkmcnt3 = 0xBF8CC37F,
                          kBarrier = 0xBF8A0000;
  const KernelShape shape{.causal = true};
  const Produced built = buildKernel(shape, {}, "k");
  ASSERT_EQ(built.error, "");
  for (std::uint32_t removed : {kWaitVmcnt0, kWaitLgkmcnt3, kBarrier}) {
    SCOPED_TRACE(removed);
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
    emulator::Device &device = Kernels::get().device();
    auto module = device.load(*object);
    ASSERT_TRUE(module) << module.status().message();
    AttentionResult result =
        runAttention(device, **module, {.shape = shape, .sequences = {{256, 300}}}, {});
    EXPECT_NE(result.error, "");
  }
}

TEST(AttentionVariantsOnEmulatorTest, RandomLengths) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> length(0, 300);
  for (const KernelShape &shape : shapes()) {
    SCOPED_TRACE(shapeName(shape));
    AttentionProblem problem{.shape = shape, .heads = 2, .kvHeads = 1, .growth = 5};
    for (int s = 0; s < 4; ++s)
      problem.sequences.push_back({length(random), length(random)});
    expectAgrees(problem);
  }
}

} // namespace
} // namespace wavesmith::compiler::testing
