#include "runtime/dispatch/LaunchList.h"

#include <cstring>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

template <typename T> T read(const LaunchStep &step, std::size_t offset) {
  T value;
  std::memcpy(&value, step.arguments.data() + offset, sizeof value);
  return value;
}

const AddressPlace *placeAt(const LaunchStep &step, std::size_t offset) {
  for (const AddressPlace &place : step.addresses)
    if (place.offset == offset)
      return &place;
  return nullptr;
}

AttentionPlan splitPlan() {
  AttentionProblem problem;
  problem.heads = 3;
  problem.lengths = {{700, 3000}};
  return *planAttention(problem, {.splits = 5});
}

TEST(LaunchList, TheWorkspaceHoldsListsAndPartialsApart) {
  AttentionProblem problem;
  problem.heads = 3;
  problem.lengths = {{700, 3000}};
  const AttentionPlan plan = *planAttention(problem, {.splits = 5});
  const WorkspaceLayout &w = plan.workspace;
  ASSERT_EQ(plan.list.slots, 3 * 3 * 5);
  const std::uint64_t rows = 45 * 256;
  EXPECT_GE(w.merges, w.work + plan.grid() * sizeof(AttentionWorkUnit));
  EXPECT_GE(w.partialLse, w.merges + plan.list.merges.size() * sizeof(CombineUnit));
  EXPECT_GE(w.partialOut, w.partialLse + rows * 4);
  EXPECT_GE(w.bytes, w.partialOut + rows * 128 * 4);
  for (const std::uint64_t offset : {w.work, w.merges, w.partialLse, w.partialOut})
    EXPECT_EQ(offset % 256, 0u);
  EXPECT_EQ((*planAttention(problem, {.splits = 1})).workspace.partialOut,
            (*planAttention(problem, {.splits = 1})).workspaceBytes())
      << "no partials without splits";
}

TEST(LaunchList, AStepHoldsEverythingButAddresses) {
  const AttentionPlan plan = splitPlan();
  const LaunchList list = launchList(plan);
  ASSERT_EQ(list.steps.size(), 2u);
  EXPECT_EQ(list.workspaceBytes, plan.workspaceBytes());
  const LaunchStep &attention = list.steps[0], &combine = list.steps[1];
  EXPECT_EQ(attention.spec, plan.spec());
  EXPECT_EQ(attention.grid.x, plan.grid());
  ASSERT_EQ(attention.arguments.size(), sizeof(AttentionArguments));
  EXPECT_EQ(std::memcmp(attention.arguments.data(), &plan.arguments, sizeof plan.arguments), 0);
  EXPECT_EQ(combine.spec, *plan.combineSpec);
  EXPECT_EQ(combine.grid.x, 9u);
  EXPECT_EQ(combine.grid.y, 16u);
  EXPECT_EQ(read<std::int64_t>(combine, offsetof(CombineArguments, partialOutSlotStride)),
            256 * 128 * 4);
  const AddressPlace *partials = placeAt(combine, offsetof(CombineArguments, partialOut));
  ASSERT_NE(partials, nullptr);
  EXPECT_EQ(*partials, (AddressPlace{.addend = plan.workspace.partialOut}));
  EXPECT_EQ(partials->addend, placeAt(attention, offsetof(AttentionArguments, partialOut))->addend);
  EXPECT_EQ(placeAt(attention, offsetof(AttentionArguments, descaleQ)), nullptr);
  // Both lists are what is uploaded.
  ASSERT_EQ(list.images.size(), 2u);
  EXPECT_EQ(list.images[0].bytes.size(), plan.list.units.size() * sizeof(AttentionWorkUnit));
  EXPECT_EQ(std::memcmp(list.images[1].bytes.data(), plan.list.merges.data(),
                        list.images[1].bytes.size()),
            0);
}

TEST(LaunchList, ScoreFunctionsTakeTheLongerArguments) {
  AttentionProblem problem;
  problem.lengths = {{70, 300}};
  problem.softCap = 50;
  problem.window.left = 127;
  constexpr std::size_t kScore = offsetof(ScoredAttentionArguments, score);
  constexpr std::size_t kSinks = kScore + offsetof(ScoreArguments, sinks);
  const AttentionPlan capped = *planAttention(problem, {.splits = 1});
  const LaunchList list = launchList(capped);
  ASSERT_EQ(list.steps.size(), 1u);
  const LaunchStep &step = list.steps[0];
  ASSERT_EQ(step.arguments.size(), sizeof(ScoredAttentionArguments));
  EXPECT_EQ(std::memcmp(step.arguments.data(), &capped.arguments, kScore), 0);
  EXPECT_FLOAT_EQ(read<float>(step, kScore + offsetof(ScoreArguments, softCapRange)), 144.26950f);
  EXPECT_EQ(read<float>(step, kScore + offsetof(ScoreArguments, softCapRate)), 0.04f);
  EXPECT_EQ(read<std::int32_t>(step, kScore + offsetof(ScoreArguments, windowLeft)), 127);
  EXPECT_EQ(read<std::int32_t>(step, kScore + offsetof(ScoreArguments, windowRight)), kNoWindow);
  EXPECT_EQ(placeAt(step, kSinks), nullptr);
  // Each row sees 128 keys up to its own and, without a right side, all behind it.
  EXPECT_EQ(capped.flops(), 2.0 * (70 * 128 + 70 * 69 / 2) * (192 + 128));
  problem.sink = true;
  const LaunchList sinks = launchList(*planAttention(problem, {.splits = 1}));
  ASSERT_NE(placeAt(sinks.steps[0], kSinks), nullptr);
  EXPECT_EQ(placeAt(sinks.steps[0], kSinks)->binding, Binding::Sinks);
  EXPECT_TRUE(placeAt(sinks.steps[0], kSinks)->required);
}

TEST(LaunchList, CountsBytesOnce) {
  const LaunchList list = launchList(splitPlan());
  const std::uint64_t rows = 3 * 700, keys = 3 * 3000, partials = rows * 5 * (128 + 1) * 4;
  EXPECT_EQ(list.steps[0].bytesMoved,
            rows * 192 * 2 + keys * (192 + 128) * 2 + partials + 45 * sizeof(AttentionWorkUnit));
  EXPECT_EQ(list.steps[1].bytesMoved, partials + rows * (128 * 2 + 4));
  EXPECT_EQ(list.bytesMoved(), list.steps[0].bytesMoved + list.steps[1].bytesMoved);
}

TEST(LaunchList, AppendedListsKeepTheirWorkspacesApart) {
  LaunchList both = launchList(splitPlan());
  const LaunchList one = both;
  both.append(one);
  ASSERT_EQ(both.steps.size(), 4u);
  EXPECT_EQ(both.kernels().size(), 2u);
  EXPECT_EQ(both.workspaceBytes, 2 * one.workspaceBytes);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < one.steps[i].addresses.size(); ++j) {
      AddressPlace moved = one.steps[i].addresses[j];
      if (moved.binding == Binding::Workspace)
        moved.addend += one.workspaceBytes;
      EXPECT_EQ(both.steps[i + 2].addresses[j], moved);
    }
  EXPECT_EQ(both.images[3].offset, one.images[1].offset + one.workspaceBytes);
}

TEST(LaunchList, PlansPartsOfABatch) {
  AttentionProblem problem;
  problem.lengths = {{300, 300}, {5, 9}, {20, 700}};
  const auto some = planAttention(problem, {.splits = 1, .sequences = {{1, 2}}});
  ASSERT_TRUE(some) << some.status().message();
  ASSERT_EQ(some->work().size(), 2u);
  // Where the rows of a sequence are does not depend on who else is planned.
  EXPECT_EQ(some->work()[0].qBegin, 305);
  EXPECT_EQ(some->work()[0].kvBegin, 309);
  EXPECT_EQ(some->work()[1].qBegin, 300);
  EXPECT_EQ(some->rowsQ, 25);
  EXPECT_EQ(some->rowsKv, 709);
  EXPECT_EQ(some->flops(), 2.0 * (5 * 9 + 20 * 700) * (192 + 128));
  EXPECT_EQ(planAttention(problem, {.sequences = {{2, 1}}}).status().message(),
            "sequence 1 is out of order or not of the batch; want rising ones below 3");
  EXPECT_FALSE(planAttention(problem, {.sequences = {{3}}}));
}

} // namespace
} // namespace wavesmith
