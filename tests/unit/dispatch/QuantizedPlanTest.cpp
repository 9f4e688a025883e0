#include "runtime/dispatch/QuantizedPlan.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wavesmith {
namespace {

using Scales = Quantization::Scales;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

AttentionProblem fp8(std::vector<SequenceLength> lengths = {{300, 500}}) {
  AttentionProblem problem;
  problem.dtype = DType::FP8;
  problem.heads = 6;
  problem.kvHeads = 3;
  problem.lengths = std::move(lengths);
  return problem;
}

std::vector<std::string> names(const LaunchList &list) {
  std::vector<std::string> all;
  for (const LaunchStep &step : list.steps)
    all.push_back(step.spec.isRowKernel() ? step.spec.row.kernel : "attention");
  return all;
}

template <typename Arguments> Arguments argumentsOf(const LaunchStep &step) {
  Arguments arguments;
  EXPECT_EQ(step.arguments.size(), sizeof arguments);
  std::memcpy(&arguments, step.arguments.data(), sizeof arguments);
  return arguments;
}

AddressPlace placeAt(const LaunchStep &step, std::size_t offset) {
  for (const AddressPlace &place : step.addresses)
    if (place.offset == offset)
      return place;
  ADD_FAILURE() << "no address at " << offset;
  return {};
}

/// [begin, end) of everything that a plan keeps in its workspace.
std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(const QuantizedPlan &plan) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all = {{0, plan.attention.workspaceBytes()}};
  for (const QuantizedTensor *t : {&plan.q, &plan.k, &plan.v}) {
    const auto heads = static_cast<std::uint64_t>(t->codes.heads);
    all.emplace_back(t->data, t->data + static_cast<std::uint64_t>(t->codes.extentBytes()));
    all.emplace_back(t->descale, t->descale + heads * 4);
    all.emplace_back(t->amax, t->amax + heads * 4);
    all.emplace_back(t->saturated, t->saturated + heads * 8);
  }
  return all;
}

TEST(QuantizedPlan, KeepsTheWorkspaceApartAndClearsMaximaAndCounts) {
  const auto plan = planQuantized(fp8(), {}, {.splits = 2});
  ASSERT_TRUE(plan) << plan.status().message();
  auto all = ranges(*plan);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_LE(all[i].second, plan->workspaceBytes);
    EXPECT_EQ(all[i].first % kWorkspaceAlignment, 0u);
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(all[i].second <= all[j].first || all[j].second <= all[i].first) << i << " " << j;
  }
  const LaunchList list = launchList(*plan);
  EXPECT_EQ(list.workspaceBytes, plan->workspaceBytes);
  ASSERT_EQ(list.zeros.size(), 1u);
  for (const QuantizedTensor *t : {&plan->q, &plan->k, &plan->v})
    for (const std::uint64_t at : {t->amax, t->saturated}) {
      EXPECT_GE(at, list.zeros[0].offset);
      EXPECT_LT(at, list.zeros[0].offset + list.zeros[0].bytes);
    }
}

TEST(QuantizedPlan, DynamicScalesAreMadeBeforeTheyAreUsed) {
  const auto plan = planQuantized(fp8(), {}, {.splits = 2});
  ASSERT_TRUE(plan) << plan.status().message();
  const LaunchList list = launchList(*plan);
  EXPECT_THAT(names(list), ElementsAre("amax", "amax", "amax", "quantize", "quantize", "quantize",
                                       "attention", "combine_splits"));
  using A = AttentionArguments;
  const LaunchStep &quantize = list.steps[4], &attention = list.steps[6];
  const AddressPlace codes = placeAt(quantize, offsetof(QuantizeArguments, y));
  EXPECT_EQ(codes.binding, Binding::Workspace);
  EXPECT_EQ(codes.addend, plan->k.data);
  EXPECT_EQ(placeAt(attention, offsetof(A, k)).addend, codes.addend);
  EXPECT_EQ(placeAt(attention, offsetof(A, k)).binding, Binding::Workspace);
  EXPECT_EQ(placeAt(attention, offsetof(A, descaleK)).addend,
            placeAt(quantize, offsetof(QuantizeArguments, descale)).addend);
  EXPECT_EQ(placeAt(list.steps[1], offsetof(AmaxArguments, amax)).addend,
            placeAt(quantize, offsetof(QuantizeArguments, amax)).addend);
  EXPECT_EQ(placeAt(attention, offsetof(A, out)).binding, Binding::Out);
  // Strides of the inputs are theirs, those of the codes packed.
  const auto a = argumentsOf<QuantizeArguments>(quantize);
  EXPECT_EQ(a.xRowStride, 3 * 192 * 2);
  EXPECT_EQ(a.yRowStride, 3 * 192);
  EXPECT_EQ(a.tokens, 500);
  EXPECT_EQ(quantize.grid.x, 16u);
  EXPECT_EQ(quantize.grid.y, 3u);
  EXPECT_EQ(quantize.bytesMoved, 500u * 3 * 192 * 3);
  EXPECT_EQ(argumentsOf<A>(attention).qRowStride, 6 * 192);
  EXPECT_EQ(argumentsOf<A>(attention).sharedDescales, 0u);
}

TEST(QuantizedPlan, ScalesOfEachKind) {
  AttentionProblem problem = fp8();
  problem.sharedDescales.k = true;
  // One maximum of a tensor, and a copy of the descale for every head.
  auto plan = planQuantized(problem, {.scales = Scales::Dynamic});
  ASSERT_TRUE(plan) << plan.status().message();
  LaunchList list = launchList(*plan);
  EXPECT_EQ(argumentsOf<AmaxArguments>(list.steps[1]).amaxHeadStride, 0);
  EXPECT_EQ(argumentsOf<AmaxArguments>(list.steps[0]).amaxHeadStride, 4);
  EXPECT_EQ(argumentsOf<QuantizeArguments>(list.steps[4]).descaleHeadStride, 4);
  EXPECT_EQ(plan->attention.arguments.sharedDescales, 0u);

  plan = planQuantized(problem, {.scales = Scales::Given});
  list = launchList(*plan);
  EXPECT_THAT(names(list), ElementsAre("quantize", "quantize", "quantize", "attention"));
  EXPECT_EQ(argumentsOf<QuantizeArguments>(list.steps[0]).descaleHeadStride, 4);
  EXPECT_EQ(argumentsOf<QuantizeArguments>(list.steps[1]).descaleHeadStride, 0);
  EXPECT_EQ(placeAt(list.steps[1], offsetof(QuantizeArguments, descale)).binding,
            Binding::DescaleK);
  EXPECT_EQ(placeAt(list.steps[3], offsetof(AttentionArguments, descaleK)).binding,
            Binding::DescaleK);
  EXPECT_EQ(plan->attention.arguments.sharedDescales, kSharedDescaleK);

  plan = planQuantized(problem, {.scales = Scales::Unit});
  list = launchList(*plan);
  EXPECT_EQ(plan->attention.arguments.sharedDescales,
            kSharedDescaleQ | kSharedDescaleK | kSharedDescaleV);
  const std::uint64_t at = placeAt(list.steps[0], offsetof(QuantizeArguments, descale)).addend;
  int found = 0;
  for (const WorkspaceImage &image : list.images)
    if (image.offset == at) {
      float value = 0;
      ASSERT_EQ(image.bytes.size(), sizeof value);
      std::memcpy(&value, image.bytes.data(), sizeof value);
      EXPECT_EQ(value, 1.0f);
      ++found;
    }
  EXPECT_EQ(found, 1);
}

TEST(QuantizedPlan, QueriesOnceForManyCalls) {
  using A = AttentionArguments;
  for (const Scales scales : {Scales::Given, Scales::Dynamic, Scales::Unit}) {
    const Quantization how{.scales = scales};
    const auto queries = planQuantized(fp8({{300, 0}}), how, {}, QuantizedWork::Queries);
    const auto rest = planQuantized(fp8(), how, {.splits = 2}, QuantizedWork::Rest);
    ASSERT_TRUE(queries && rest);
    const LaunchList first = launchList(*queries), second = launchList(*rest);
    if (scales == Scales::Dynamic) {
      EXPECT_THAT(names(first), ElementsAre("amax", "quantize"));
      EXPECT_THAT(names(second), ElementsAre("amax", "amax", "quantize", "quantize", "attention",
                                             "combine_splits"));
    } else {
      EXPECT_THAT(names(first), ElementsAre("quantize"));
      EXPECT_THAT(names(second),
                  ElementsAre("quantize", "quantize", "attention", "combine_splits"));
    }
    EXPECT_EQ(placeAt(first.steps.back(), offsetof(QuantizeArguments, x)).binding, Binding::Q);
    EXPECT_EQ(placeAt(first.steps.back(), offsetof(QuantizeArguments, y)).addend, queries->q.data);
    EXPECT_EQ(first.images.size(), scales == Scales::Unit ? 1u : 0u);
    const LaunchStep &attention = second.steps[second.steps.size() - 2];
    EXPECT_EQ(placeAt(attention, offsetof(A, q)).binding, Binding::QCodes);
    EXPECT_EQ(placeAt(attention, offsetof(A, q)).addend, 0u);
    EXPECT_EQ(placeAt(attention, offsetof(A, descaleQ)).binding,
              scales == Scales::Given ? Binding::DescaleQ : Binding::QCodesDescale);
    EXPECT_EQ(placeAt(attention, offsetof(A, k)).binding, Binding::Workspace);
    for (const LaunchStep &step : second.steps)
      for (const AddressPlace &place : step.addresses)
        EXPECT_NE(place.binding, Binding::Q);
  }
}

TEST(QuantizedPlan, KeysInTwoParts) {
  const auto plan = planQuantized(fp8(), {.keysInParts = true});
  ASSERT_TRUE(plan) << plan.status().message();
  const LaunchList list = launchList(*plan);
  EXPECT_THAT(names(list), ElementsAre("amax", "amax", "amax", "amax", "quantize",
                                       "quantize_concat", "quantize", "attention"));
  const auto a = argumentsOf<QuantizeConcatArguments>(list.steps[5]);
  EXPECT_EQ(a.nopeRowStride, 3 * 128 * 2);
  EXPECT_EQ(a.ropeRowStride, 64 * 2);
  EXPECT_EQ(a.ropeHeadStride, 0) << "one rope for all heads";
  EXPECT_EQ(placeAt(list.steps[5], offsetof(QuantizeConcatArguments, rope)).binding,
            Binding::KRope);
  EXPECT_EQ(list.steps[5].bytesMoved, 500u * (3 * 128 * 2 + 64 * 2 + 3 * 192));
  AttentionProblem other = fp8();
  other.headDimQk = 128;
  EXPECT_EQ(planQuantized(other, {.keysInParts = true}).status().message(),
            "keys in two parts have 128 + 64 elements, the head dim is 128");
}

TEST(QuantizedPlan, TouchesRowsOfPlannedSequencesOnly) {
  const auto plan =
      planQuantized(fp8({{10, 20}, {30, 0}, {5, 7}, {40, 50}, {3, 9}}), {.scales = Scales::Unit},
                    {.splits = 1, .sequences = {{0, 1, 3}}});
  ASSERT_TRUE(plan) << plan.status().message();
  const LaunchList list = launchList(*plan);
  // Queries 0..40 and 45..85, keys 0..20 and 27..77.
  ASSERT_EQ(list.steps.size(), 7u);
  const std::int32_t tokens[] = {40, 40, 20, 50, 20, 50};
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(argumentsOf<QuantizeArguments>(list.steps[i]).tokens, tokens[i]) << i;
  EXPECT_EQ(placeAt(list.steps[1], offsetof(QuantizeArguments, x)).addend, 45u * 6 * 192 * 2);
  EXPECT_EQ(placeAt(list.steps[1], offsetof(QuantizeArguments, y)).addend,
            plan->q.data + 45 * 6 * 192);
  EXPECT_EQ(placeAt(list.steps[3], offsetof(QuantizeArguments, x)).addend, 27u * 3 * 192 * 2);
  EXPECT_TRUE(launchList(*planQuantized(fp8({{0, 5}}), {})).steps.empty());
}

TEST(QuantizedPlan, Refusals) {
  const auto message = [](const AttentionProblem &problem, const Quantization &quantization) {
    return planQuantized(problem, quantization).status().message();
  };
  EXPECT_THAT(message(fp8(), {.rotationQ = 3, .rotationK = 4}),
              AllOf(HasSubstr("rotation=3"), HasSubstr("rotation=4"), HasSubstr("the same seed")));
  EXPECT_THAT(message(fp8(), {.rotationK = 4, .keysInParts = true}), HasSubstr("the same seed"));
  EXPECT_EQ(message(fp8(), {.rotationQ = 1u << 31, .rotationK = 1u << 31}),
            "rotation seed 2147483648 is not below 2^31");
  EXPECT_THAT(message(fp8(), {.input = "fp8"}), HasSubstr("bf16, f16, f32"));
  AttentionProblem problem = fp8();
  problem.k.row = 3 * 192 + 4;
  EXPECT_EQ(message(problem, {}),
            "k row stride is 580 elements; it must be a multiple of 8 (16 bytes)");
  EXPECT_TRUE(planQuantized(problem, {.input = "f32"})) << "16 bytes are 4 elements of float32";
  problem = fp8();
  problem.dtype = DType::BF16;
  EXPECT_EQ(message(problem, {}), "the call is bf16; inputs are quantised for fp8 only");
}

} // namespace
} // namespace wavesmith
