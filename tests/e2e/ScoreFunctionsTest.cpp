// Score functions against float64: windows whose edges fall around tiles, soft caps that bend most
// scores, sinks that no split counts twice, all of them together, and what they must leave alone.

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

constexpr int kDefaultCases = 24, kLongCases = 240;
/// Around tiles and wave groups; -1 hides nothing.
constexpr std::array<std::int64_t, 15> kSides{-1, 0,   1,   31,  32,  33,  63, 64,
                                              65, 127, 128, 129, 255, 256, 700};

struct Kernel {
  std::string target;
  DType dtype;
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  for (const std::string &target : targetNames())
    for (const DType dtype : {DType::BF16, DType::FP8})
      all.push_back({target, dtype});
  return all;
}

RunRequest requestOf(const Kernel &kernel, std::vector<SequenceLength> lengths, int splits = 1) {
  RunRequest request;
  request.problem.target = kernel.target;
  request.problem.dtype = kernel.dtype;
  request.problem.headDimQk = request.problem.headDimV = 64;
  request.problem.heads = 2;
  request.problem.lengths = std::move(lengths);
  request.splits = splits;
  return request;
}

class RandomScores : public ::testing::TestWithParam<int> {};

TEST_P(RandomScores, MatchTheReference) {
  const auto number = static_cast<std::size_t>(GetParam());
  RunRequest request = drawCase(GetParam());
  AttentionProblem &problem = request.problem;
  // Every set of functions but the empty one.
  const std::size_t set = number % 7 + 1;
  if (set & 1)
    problem.window = {kSides[(7 * number) % kSides.size()], kSides[(4 * number) % kSides.size()]};
  if (set & 2)
    problem.softCap = number % 2 ? 0.7 : 30;
  problem.sink = set & 4;
  SCOPED_TRACE(commandLine(request));
  EXPECT_EQ(complaints(runCase(request)), "");
}

INSTANTIATE_TEST_SUITE_P(Default, RandomScores, ::testing::Range(0, kDefaultCases));
INSTANTIATE_TEST_SUITE_P(Long, RandomScores, ::testing::Range(kDefaultCases, kLongCases));

class Scores : public ::testing::TestWithParam<Kernel> {};

TEST_P(Scores, EverySideOfAWindow) {
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    // More keys than queries, fewer, and a query that stands for all of a cache.
    RunRequest request = requestOf(GetParam(), {{270, 500}, {300, 90}, {1, 300}}, i % 2 ? 3 : 1);
    request.problem.window = {kSides[i], kSides[(4 * i + 3) % kSides.size()]};
    request.problem.causal = i % 3 == 0;
    ASSERT_EQ(complaints(runCase(request)), "") << commandLine(request);
  }
}

TEST_P(Scores, ASinkCountsOnceHoweverTheKeysAreCut) {
  for (const int splits : {1, 2, 5})
    for (const bool window : {false, true}) {
      RunRequest request = requestOf(GetParam(), {{40, 900}, {300, 640}, {300, 20}}, splits);
      request.problem.causal = true;
      request.problem.sink = true;
      if (window)
        request.problem.window.left = 400;
      const auto report = runCase(request);
      ASSERT_EQ(complaints(report), "") << commandLine(request);
      EXPECT_EQ(report->partials > 0, splits > 1);
      EXPECT_EQ(report->errors->rowsWithoutKeys, 2u * 280) << "their LSE is the sink";
    }
}

TEST_P(Scores, SinksOfAnySize) {
  for (const int splits : {1, 2}) {
    RunRequest request = requestOf(GetParam(), {{70, 300}, {40, 20}}, splits);
    request.problem.heads = 8;
    request.problem.causal = true;
    request.problem.sink = true;
    request.sinks = [](std::vector<float> &sinks) {
      sinks = {-std::numeric_limits<float>::infinity(), -1e30f, -200, 0, 20, 60, 1e4f, 3e38f};
    };
    EXPECT_EQ(complaints(runCase(request)), "");
  }
}

TEST_P(Scores, AMissingSinkIsNaNOnlyInItsHead) {
  for (const float missing : {std::nanf(""), std::numeric_limits<float>::infinity()})
    for (const int splits : {1, 2}) {
      RunRequest request = requestOf(GetParam(), {{33, 900}, {5, 0}}, splits);
      request.problem.sink = true;
      request.sinks = [=](std::vector<float> &sinks) { sinks[1] = missing; };
      bool healthy = true, sick = true;
      request.outputs = [&](const HostTensor &, const HostTensor &lse) {
        for (std::int64_t row = 0; row < 38; ++row) {
          healthy &= std::isfinite(*lse.at<float>(row, 0));
          sick &= std::isnan(*lse.at<float>(row, 1));
        }
      };
      const auto report = runCase(request);
      ASSERT_TRUE(report);
      EXPECT_EQ(report->errors->wrongEmptyRows, 0u) << "their LSE is the sink";
      EXPECT_TRUE(healthy && sick) << missing << " in " << splits << " pieces";
    }
}

TEST_P(Scores, CapsFromBendingEverythingToNothing) {
  for (const double cap : {kLeastSoftCap, 0.05, 1.0, 50.0, kLargestSoftCap}) {
    RunRequest request = requestOf(GetParam(), {{40, 300}, {33, 5}});
    request.problem.causal = true;
    request.problem.softCap = cap;
    ASSERT_EQ(complaints(runCase(request)), "") << cap;
    // Scores of some tens, which the cap brings to where FP8's bounds hold.
    request.problem.scale = cap <= 1 ? 4.0 : 0.1;
    ASSERT_EQ(complaints(runCase(request)), "") << cap << " of large scores";
  }
}

/// A digest of out and lse.
std::string bitsOf(const RunRequest &request) {
  const auto report = runCase(request);
  EXPECT_EQ(complaints(report), "") << commandLine(request);
  return report ? report->outputDigest : "";
}

TEST_P(Scores, WhatHidesNothingChangesNoBit) {
  RunRequest request = requestOf(GetParam(), {{300, 420}, {70, 70}, {20, 5}}, 2);
  request.problem.causal = true;
  const std::string plain = bitsOf(request);
  request.problem.window = {kMaxTokens, -1};
  EXPECT_EQ(bitsOf(request), plain) << "a window over everything";
  request.problem.causal = false;
  request.problem.window = {-1, 0};
  EXPECT_EQ(bitsOf(request), plain) << "the causal mask as a window";
  request.problem.causal = true;
  request.problem.window = {};
  request.problem.sink = true;
  request.sinks = [](std::vector<float> &sinks) {
    std::ranges::fill(sinks, -std::numeric_limits<float>::infinity());
  };
  EXPECT_EQ(bitsOf(request), plain) << "sinks without weight";
}

TEST_P(Scores, OneKernelServesEveryValue) {
  RunRequest request = requestOf(GetParam(), {{40, 300}});
  std::string name;
  for (const int value : {3, 50, 200}) {
    request.problem.window.left = value;
    request.problem.softCap = value;
    const auto report = runCase(request);
    ASSERT_EQ(complaints(report), "");
    if (!name.empty())
      EXPECT_EQ(report->provider, "memory");
    EXPECT_TRUE(name.empty() || report->kernels.front().info.name == name);
    name = report->kernels.front().info.name;
  }
}

TEST_P(Scores, AWindowSkipsTilesOutsideIt) {
  // Four row blocks of 1024 keys each see 128 + 256 keys of their own, or all before them.
  RunRequest request = requestOf(GetParam(), {{1024, 4096}});
  request.problem.causal = true;
  request.verify = false;
  const auto all = runCase(request);
  request.problem.window.left = 128;
  const auto near = runCase(request);
  ASSERT_EQ(complaints(all) + complaints(near), "");
  EXPECT_LT(near->emulated->instructions, all->emulated->instructions / 4);
}

std::string nameOf(const ::testing::TestParamInfo<Kernel> &info) {
  return fmt::format("{}_{}", info.param.target, dtypeName(info.param.dtype));
}
INSTANTIATE_TEST_SUITE_P(Default, Scores, ::testing::ValuesIn(kernels()), nameOf);

} // namespace
} // namespace wavesmith::testing
