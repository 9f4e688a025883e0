// Same input and plan, same bits: whatever the order in which waves and memory happen to run, and
// however often.

#include <set>

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

RunRequest request(int qk, int v, DType dtype = DType::BF16) {
  RunRequest made;
  made.problem.dtype = dtype;
  made.problem.headDimQk = qk;
  made.problem.headDimV = v;
  made.problem.causal = true;
  made.problem.heads = 2;
  made.problem.lengths = {{300, 340}, {70, 70}, {5, 200}};
  return made;
}

class ReproducibilityOn : public ::testing::TestWithParam<std::string> {};

TEST_P(ReproducibilityOn, EveryOrderGivesTheSameBits) {
  struct {
    int qk, v;
    DType dtype;
  } const kernels[] = {{192, 128, DType::BF16}, {64, 64, DType::BF16}, {192, 128, DType::FP8}};
  for (const auto &[qk, v, dtype] : kernels) {
    std::string digest;
    for (const std::string &order : allOrders()) {
      RunRequest made = request(qk, v, dtype);
      made.problem.target = GetParam();
      made.order = order;
      const auto report = runCase(made);
      ASSERT_EQ(complaints(report), "") << order;
      ASSERT_EQ(report->outputDigest.size(), 64u);
      if (digest.empty())
        digest = report->outputDigest;
      EXPECT_EQ(report->outputDigest, digest) << order;
    }
  }
}

TEST_P(ReproducibilityOn, AHundredRunsGiveTheSameBits) {
  RunRequest made = request(64, 64, DType::FP8);
  made.problem.target = GetParam();
  made.problem.lengths = {{40, 150}};
  made.problem.heads = 1;
  std::set<std::string> digests;
  for (int run = 0; run < 100; ++run) {
    made.order = allOrders()[static_cast<std::size_t>(run) % allOrders().size()];
    const auto report = runCase(made);
    ASSERT_EQ(complaints(report), "");
    digests.insert(report->outputDigest);
  }
  EXPECT_EQ(digests.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Targets, ReproducibilityOn, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

TEST(Reproducibility, LseDoesNotChangeTheOutput) {
  for (const DType dtype : {DType::BF16, DType::FP8}) {
    RunRequest with = request(128, 128, dtype), without = with;
    without.problem.writeLse = false;
    const auto a = runCase(with), b = runCase(without);
    ASSERT_EQ(complaints(a) + complaints(b), "");
    EXPECT_EQ(a->outDigest, b->outDigest);
  }
}

TEST(Reproducibility, OtherInputsGiveOtherBits) {
  RunRequest first = request(64, 64), second = request(64, 64);
  second.seed = 2;
  const auto a = runCase(first), b = runCase(second);
  ASSERT_EQ(complaints(a) + complaints(b), "");
  EXPECT_NE(a->outputDigest, b->outputDigest);
}

TEST(Reproducibility, StridesDoNotMatter) {
  RunRequest packed = request(128, 128), padded = request(128, 128);
  padded.padding = 24;
  const auto a = runCase(packed), b = runCase(padded);
  ASSERT_EQ(complaints(a) + complaints(b), "");
  EXPECT_EQ(a->outputDigest, b->outputDigest);
}

} // namespace
} // namespace wavesmith::testing
