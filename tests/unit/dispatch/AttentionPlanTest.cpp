#include "runtime/dispatch/AttentionPlan.h"

#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

AttentionPlan planOf(std::vector<SequenceLength> lengths, bool causal, std::int64_t heads = 1,
                     std::int64_t kvHeads = 0) {
  AttentionProblem problem;
  problem.heads = heads;
  problem.kvHeads = kvHeads;
  problem.causal = causal;
  problem.lengths = std::move(lengths);
  auto plan = planAttention(problem, {.splits = 1});
  EXPECT_TRUE(plan) << plan.status().message();
  return *std::move(plan);
}

TEST(AttentionPlan, CausalUnitsEndAtTheDiagonal) {
  const AttentionPlan plan = planOf({{600, 1000}}, true);
  ASSERT_EQ(plan.work().size(), 3u);
  // Heaviest first: the last row block sees the most keys.
  EXPECT_EQ(plan.work()[0].q0, 512);
  EXPECT_EQ(plan.work()[0].kv1, 1000);
  EXPECT_EQ(plan.work()[1].q0, 256);
  EXPECT_EQ(plan.work()[1].kv1, 512 + 400);
  EXPECT_EQ(plan.work()[2].q0, 0);
  EXPECT_EQ(plan.work()[2].kv1, 256 + 400);
}

TEST(AttentionPlan, RowsWithoutKeysStillGetAUnit) {
  const AttentionPlan causal = planOf({{2048, 1024}}, true);
  ASSERT_EQ(causal.work().size(), 8u);
  for (const AttentionWorkUnit &unit : causal.work())
    EXPECT_EQ(unit.kv1, std::max(0, unit.q0 + 256 - 1024));
  const AttentionPlan empty = planOf({{5, 0}}, false);
  ASSERT_EQ(empty.work().size(), 1u);
  EXPECT_EQ(empty.work()[0].kv1, 0);
}

TEST(AttentionPlan, EmptySequencesGiveNoUnit) {
  EXPECT_EQ(planOf({{0, 100}, {0, 0}}, true).grid(), 0u);
  EXPECT_EQ(planOf({}, false).workspaceBytes(), 0u);
  const AttentionPlan plan = planOf({{0, 7}, {3, 4}, {0, 9}, {2, 5}}, false);
  ASSERT_EQ(plan.work().size(), 2u);
  EXPECT_EQ(plan.work()[0].qBegin, 3); // 5 keys before 4
  EXPECT_EQ(plan.work()[0].kvBegin, 20);
  EXPECT_EQ(plan.work()[1].qBegin, 0);
  EXPECT_EQ(plan.work()[1].kvBegin, 7);
}

TEST(AttentionPlan, EveryRowOfEveryHeadIsInExactlyOneUnit) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<SequenceLength> lengths(random() % 6);
    for (SequenceLength &length : lengths)
      length = {static_cast<std::int64_t>(random() % 1100),
                static_cast<std::int64_t>(random() % 1100)};
    const bool causal = random() % 2;
    const auto kvHeads = static_cast<std::int64_t>(random() % 4 + 1);
    const std::int64_t heads = kvHeads * static_cast<std::int64_t>(random() % 8 + 1);
    const AttentionPlan plan = planOf(lengths, causal, heads, kvHeads);
    std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
    std::int32_t weight = INT32_MAX;
    for (const AttentionWorkUnit &u : plan.work()) {
      EXPECT_LE(u.kv1 - u.kv0, weight) << "heaviest first";
      weight = u.kv1 - u.kv0;
      EXPECT_EQ(u.q0 % 256, 0);
      EXPECT_LT(u.q0, u.lenQ);
      EXPECT_EQ(u.kvHead, u.head / (heads / kvHeads));
      EXPECT_EQ(u.slot, -1);
      EXPECT_LE(u.kv1, u.lenKv);
      const std::int32_t lastRow = std::min(u.q0 + 256, u.lenQ) - 1;
      if (causal) {
        EXPECT_EQ(u.kv1, std::max(0, lastRow + u.lenKv - u.lenQ + 1));
      } else {
        EXPECT_EQ(u.kv1, u.lenKv);
      }
      for (std::int32_t row = u.q0; row <= lastRow; ++row)
        ++seen[{u.head, u.qBegin + row}];
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), plan.checked.totalQ * heads);
    for (const auto &[key, count] : seen)
      EXPECT_EQ(count, 1);
  }
}

TEST(AttentionPlan, ArgumentsAreInBytes) {
  AttentionProblem problem;
  problem.heads = 3;
  problem.lengths = {{10, 20}};
  problem.q = {.row = 1000, .head = 200};
  problem.lseHeadStride = 17;
  const auto plan = planAttention(problem, {.splits = 1});
  ASSERT_TRUE(plan) << plan.status().message();
  EXPECT_EQ(plan->arguments.qRowStride, 2000);
  EXPECT_EQ(plan->arguments.qHeadStride, 400);
  EXPECT_EQ(plan->arguments.outRowStride, 3 * 128 * 2);
  EXPECT_EQ(plan->arguments.lseHeadStride, 68);
  EXPECT_FLOAT_EQ(plan->arguments.scaleLog2, 1.4426950408889634f / std::sqrt(192.0f));
  EXPECT_EQ(plan->arguments.q, 0u);
}

TEST(AttentionPlan, CountsUsefulFlops) {
  EXPECT_EQ(planOf({{2, 3}}, false).flops(), 2.0 * 6 * 320);
  EXPECT_EQ(planOf({{2, 3}}, true, 2).flops(), 2.0 * (2 + 3) * 2 * 320);
  EXPECT_EQ(planOf({{5, 2}}, true).flops(), 2.0 * (1 + 2) * 320);
}

TEST(AttentionPlan, RefusesAWorkListOfGigabytes) {
  AttentionProblem problem;
  problem.heads = 128;
  problem.lengths.assign(1 << 20, {1, 1});
  EXPECT_EQ(planAttention(problem).status().code(), StatusCode::ResourceExhausted);
  // HIP counts the threads of a grid in 32 bits: 2^23 workgroups of 512 are one too many.
  problem.headDimQk = problem.headDimV = 64;
  problem.lengths = {{kMaxTokens, 1}};
  EXPECT_EQ(planAttention(problem).status().code(), StatusCode::ResourceExhausted);
  problem.lengths = {{kMaxTokens - 256, 1}};
  EXPECT_TRUE(planAttention(problem));
}

} // namespace
} // namespace wavesmith
