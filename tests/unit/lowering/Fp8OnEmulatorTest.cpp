// What FP8 adds to the kernels: codes, descales, the range of the weights and who sums them.

#include <cmath>

#include <gtest/gtest.h>

#include "runtime/verify/Float8.h"
#include "tests/unit/lowering/EmulatorKernels.h"

namespace wavesmith::compiler::testing {
namespace {

constexpr double kDescale = 1.0 / 32; // of AttentionProblem's tensors

class Fp8OnEmulatorTest : public ::testing::TestWithParam<const char *> {
protected:
  const std::string target = GetParam();
  const ElementType element = findTarget(target)->fp8;
  const Fp8Format format =
      element == ElementType::F8E4M3Fnuz ? Fp8Format::E4M3Fnuz : Fp8Format::E4M3Ocp;
  const std::uint16_t one = static_cast<std::uint16_t>(oneOf(element));

  KernelShape shapeOf(int qk, int v, bool causal = false) {
    return KernelCase{target, {.headDimQk = qk, .headDimV = v, .causal = causal}}.withFp8().shape;
  }
  Schedule scheduleOf(const KernelShape &shape) { return KernelCase{target, shape}.schedule(); }
  double valueOf(int code) {
    return fp8ToDouble(format, static_cast<std::uint8_t>(code)) * kDescale;
  }
};

/// One key: out is v, and lse the score.
TEST_P(Fp8OnEmulatorTest, EveryCodeOfValuesArrives) {
  AttentionProblem problem{.shape = shapeOf(128, 128), .sequences = {{1, 1}, {1, 1}}};
  problem.bits = [this](char tensor, int token, int, int i) -> std::uint16_t {
    return tensor == 'v' ? 128 * token + i : one;
  };
  const AttentionResult result = runOnEmulator(target, problem);
  ASSERT_EQ(result.out.size(), 256u);
  for (int code = 0; code < 256; ++code)
    if (std::isnan(valueOf(code)))
      EXPECT_TRUE(std::isnan(result.out[code]));
    else
      EXPECT_EQ(result.out[code], static_cast<float>(valueOf(code))) << code;
}

TEST_P(Fp8OnEmulatorTest, EveryCodeOfQueriesAndKeysArrives) {
  const double scale = 1 / std::sqrt(128.0);
  for (const char coded : {'q', 'k'}) {
    SCOPED_TRACE(coded);
    // Row r of sequence s meets code 128 s + r: in element 0 of the queries, or in element r of the
    // one key, which a query with a single one picks. A NaN in K would reach every row: 0 * NaN.
    AttentionProblem problem{.shape = shapeOf(128, 128), .sequences = {{128, 1}, {128, 1}}};
    problem.bits = [this, coded](char tensor, int token, int, int i) -> std::uint16_t {
      if (tensor == 'v')
        return 0;
      if (coded == 'q')
        return i != 0 ? 0 : tensor == 'q' ? token : one;
      if (tensor == 'q')
        return i == token % 128 ? one : 0;
      return std::isnan(valueOf(128 * token + i)) ? 0 : 128 * token + i;
    };
    const AttentionResult result = runOnEmulator(target, problem);
    ASSERT_EQ(result.lse.size(), 256u);
    for (int code = 0; code < 256; ++code)
      if (coded == 'q' && std::isnan(valueOf(code ^ 16)))
        continue; // the matrix core sums this row with the other's NaN times 0
      else if (!std::isnan(valueOf(code)))
        EXPECT_NEAR(result.lse[code], valueOf(code) * valueOf(one) * scale, 1e-6) << code;
      else if (coded == 'q')
        EXPECT_FALSE(std::isfinite(result.lse[code])) << code;
  }
}

TEST_P(Fp8OnEmulatorTest, PowersOfTwoMoveBetweenQueriesAndDescaleWithoutATrace) {
  for (auto [qk, v] : {std::pair{192, 128}, {64, 64}}) {
    AttentionProblem problem{.shape = shapeOf(qk, v, true),
                             .sequences = {{5, 300}, {4, 70}, {3, 2}},
                             .heads = 2,
                             .kvHeads = 2,
                             .growth = 3,
                             .otherQueries = 1.0f / 8}; // leaves room in the format
    const AttentionResult plain = runOnEmulator(target, problem);
    for (int shift : {1, 3}) {
      problem.queryShift = shift;
      const AttentionResult shifted = runOnEmulator(target, problem);
      EXPECT_EQ(shifted.out, plain.out);
      EXPECT_EQ(shifted.lse, plain.lse);
    }
  }
}

TEST_P(Fp8OnEmulatorTest, OneDescaleForAllHeads) {
  AttentionProblem problem{
      .shape = shapeOf(64, 64), .sequences = {{40, 90}}, .heads = 6, .kvHeads = 3};
  const AttentionResult each = runOnEmulator(target, problem);
  problem.sharedDescales = true;
  const AttentionResult shared = runOnEmulator(target, problem);
  EXPECT_EQ(each.out, shared.out);
  EXPECT_EQ(each.lse, shared.lse);
}

TEST_P(Fp8OnEmulatorTest, WithoutDescales) {
  KernelShape shape = shapeOf(64, 64);
  shape.scaled = false;
  AttentionProblem problem{.shape = shape, .sequences = {{3, 1}}};
  problem.bits = [](char tensor, int, int, int i) -> std::uint16_t {
    return tensor == 'v' ? i : 0;
  };
  const AttentionResult result = runOnEmulator(target, problem);
  ASSERT_EQ(result.out.size(), 3u * 64);
  for (int code = 0; code < 64; ++code)
    EXPECT_EQ(result.out[code], static_cast<float>(valueOf(code) / kDescale));
}

TEST_P(Fp8OnEmulatorTest, EitherSumInEitherOrderAtEitherEndOfTheRange) {
  for (RowSum sum : {RowSum::Vector, RowSum::Matrix})
    for (SoftmaxOrder order : {SoftmaxOrder::Pipelined, SoftmaxOrder::Windowed})
      for (auto [exponent, threshold] : {std::pair{4.0f, 3.9f}, {0.0f, 7.9f}, {7.9f, 0.0f}}) {
        SCOPED_TRACE(::testing::Message()
                     << static_cast<int>(sum) << static_cast<int>(order) << exponent);
        const KernelShape shape = shapeOf(64, 64, true);
        Schedule schedule = scheduleOf(shape);
        schedule.rowSum = sum;
        schedule.order = order;
        schedule.weightExponent = exponent;
        schedule.rescaleThreshold = threshold;
        expectAgrees(target, {.shape = shape, .sequences = {{70, 200}, {33, 31}}}, schedule);
      }
}

TEST(Fp8SchedulesOnEmulatorTest, ThreeKeyBuffers) {
  const KernelCase kernel = KernelCase{"gfx942", {.causal = true}}.withFp8();
  Schedule schedule = kernel.schedule();
  schedule.kBuffers = 3;
  schedule.keyWaits.vmem = 12;
  expectAgrees(kernel.target, {.shape = kernel.shape, .sequences = {{256, 300}}, .growth = 4},
               schedule);
}

TEST_P(Fp8OnEmulatorTest, ANeighboursNanStaysThere) {
  for (bool causal : {false, true})
    expectAgrees(target, {.shape = shapeOf(192, 128, causal),
                          .sequences = {{33, 70}, {50, 45}, {20, 37}},
                          .heads = 2,
                          .kvHeads = 2,
                          .nanSequence = 1});
}

TEST_P(Fp8OnEmulatorTest, ARowsBitsAreItsOwn) {
  AttentionProblem problem{.shape = shapeOf(192, 128, true), .sequences = {{64, 300}}, .growth = 2};
  const AttentionResult one = runOnEmulator(target, problem);
  problem.otherQueries = 1.0f / 4;
  const AttentionResult other = runOnEmulator(target, problem);
  EXPECT_NE(one.out, other.out);
  EXPECT_EQ(one.rowFive, other.rowFive);
}

INSTANTIATE_TEST_SUITE_P(Targets, Fp8OnEmulatorTest, ::testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace wavesmith::compiler::testing
