// Same input and plan, same bits: whatever the order in which waves and memory happen to run, and
// however often.

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

RunRequest request(int qk, int v) {
  RunRequest made;
  made.problem.headDimQk = qk;
  made.problem.headDimV = v;
  made.problem.causal = true;
  made.problem.heads = 2;
  made.problem.lengths = {{300, 340}, {70, 70}, {5, 200}};
  return made;
}

class ReproducibilityOn : public ::testing::TestWithParam<std::string> {};

TEST_P(ReproducibilityOn, EveryOrderGivesTheSameBits) {
  for (const auto [qk, v] : {std::pair{192, 128}, std::pair{64, 64}}) {
    std::string digest;
    for (const std::string &order : allOrders()) {
      RunRequest made = request(qk, v);
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

INSTANTIATE_TEST_SUITE_P(Targets, ReproducibilityOn, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

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
