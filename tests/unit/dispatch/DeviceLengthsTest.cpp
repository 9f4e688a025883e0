#include "runtime/dispatch/DeviceLengths.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wavesmith {
namespace {

using ::testing::HasSubstr;

TEST(DeviceLengths, TheGridHoldsEveryBatchWithinTheBounds) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> lengths(1 + random() % 5);
    LengthBounds bounds{.sequences = static_cast<std::int64_t>(lengths.size()), .keys = 9};
    std::uint32_t blocks = 0;
    for (std::int64_t &length : lengths) {
      length = static_cast<std::int64_t>(random() % 3 ? random() % 600 : random() % 2);
      bounds.queries += length;
      blocks += static_cast<std::uint32_t>((length + 255) / 256);
    }
    const auto plan = planDeviceLengths({}, bounds);
    ASSERT_TRUE(plan) << plan.status().message();
    EXPECT_GE(plan->blocks, blocks);
  }
  // And no more than the worst batch needs.
  EXPECT_EQ(planDeviceLengths({}, {.sequences = 3, .queries = 600})->blocks, 5u);
  EXPECT_EQ(planDeviceLengths({}, {.sequences = 1, .queries = 512})->blocks, 2u);
  EXPECT_EQ(planDeviceLengths({}, {.sequences = 100, .queries = 7})->blocks, 7u);
}

TEST(DeviceLengths, TheListMakesItsOwnWork) {
  AttentionProblem problem;
  problem.heads = 6;
  problem.kvHeads = 2;
  problem.causal = true;
  const auto plan = planDeviceLengths(problem, {.sequences = 4, .queries = 300, .keys = 50});
  ASSERT_TRUE(plan) << plan.status().message();
  const LaunchList list = launchList(*plan);
  ASSERT_EQ(list.steps.size(), 2u);
  EXPECT_TRUE(list.images.empty()) << "nothing comes from the host";
  EXPECT_EQ(list.steps[0].spec.text(), "work_list abi=3 target=gfx942");
  WorkListArguments a{};
  ASSERT_EQ(list.steps[0].arguments.size(), sizeof a);
  std::memcpy(&a, list.steps[0].arguments.data(), sizeof a);
  EXPECT_EQ(a.sequences, 4);
  EXPECT_EQ(a.heads, 6);
  EXPECT_EQ(a.group, 3);
  EXPECT_EQ(a.queries, 300);
  EXPECT_EQ(a.keys, 50);
  EXPECT_EQ(a.left, kNoWindow);
  EXPECT_EQ(a.right, 0);
  EXPECT_EQ(list.steps[0].grid.x, plan->blocks);
  EXPECT_EQ(list.steps[0].grid.y, 6u);
  EXPECT_EQ(list.steps[1].grid.x, plan->blocks * 6);
  EXPECT_GE(list.workspaceBytes, plan->blocks * 6 * sizeof(AttentionWorkUnit));
}

TEST(DeviceLengths, WindowsBoundTheUnitsAndSinksAreBound) {
  AttentionProblem problem;
  problem.window = {.left = 100, .right = 7};
  problem.sink = true;
  const auto plan = planDeviceLengths(problem, {.sequences = 4, .queries = 300, .keys = 50});
  ASSERT_TRUE(plan) << plan.status().message();
  const LaunchList list = launchList(*plan);
  WorkListArguments a{};
  std::memcpy(&a, list.steps[0].arguments.data(), sizeof a);
  EXPECT_EQ(a.left, 100);
  EXPECT_EQ(a.right, 7);
  ScoredAttentionArguments scored{};
  ASSERT_EQ(list.steps[1].arguments.size(), sizeof scored);
  std::memcpy(&scored, list.steps[1].arguments.data(), sizeof scored);
  EXPECT_EQ(scored.score.windowLeft, 100);
  EXPECT_TRUE(std::ranges::any_of(list.steps[1].addresses, [](const AddressPlace &place) {
    return place.binding == Binding::Sinks;
  }));
}

TEST(DeviceLengths, Refusals) {
  AttentionProblem problem;
  problem.lengths = {{1, 1}};
  EXPECT_THAT(planDeviceLengths(problem, {}).status().message(), HasSubstr("has lengths of 1"));
  EXPECT_THAT(planDeviceLengths({}, {.sequences = -1}).status().message(),
              HasSubstr("sequences is -1"));
  EXPECT_THAT(planDeviceLengths({}, {.sequences = 1, .queries = -5}).status().message(),
              HasSubstr("q length is -5"));
  problem.lengths.clear();
  EXPECT_TRUE(launchList(*planDeviceLengths({}, {})).steps.empty());
  problem.headDimQk = problem.headDimV = 64;
  problem.heads = 128;
  EXPECT_EQ(planDeviceLengths(problem, {.sequences = 1, .queries = kMaxTokens, .keys = 1})
                .status()
                .code(),
            StatusCode::ResourceExhausted)
      << "2^23 workgroups";
}

} // namespace
} // namespace wavesmith
