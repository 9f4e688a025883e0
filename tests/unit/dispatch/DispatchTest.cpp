#include "runtime/dispatch/Dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wavesmith {
namespace {

using policy::Path;
using policy::Policy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DispatchRequest request(std::vector<SequenceLength> lengths) {
  DispatchRequest request;
  request.problem.heads = 4;
  request.problem.causal = true;
  request.problem.lengths = std::move(lengths);
  request.quantization = Quantization{};
  return request;
}

Policy fp8From(std::int64_t queries) {
  return *Policy::parse(fmt::format(R"({{"schema": "wavesmith-policy-1", "name": "t", "rules": [
        {{"name": "short", "when": {{"q_len": {{"below": {}}}}}, "path": "bf16", "reason": "short"}},
        {{"name": "else", "path": "fp8", "reason": "long"}}]}})",
                                    queries),
                        "t");
}

TEST(Dispatch, DecidesEachSequenceByItself) {
  const auto decisions =
      decideSequences(request({{100, 100}, {2000, 2000}, {100, 100}, {0, 9}, {2000, 2100}}),
                      *Policy::preset("default"));
  ASSERT_TRUE(decisions) << decisions.status().message();
  ASSERT_EQ(decisions->choices.size(), 4u);
  EXPECT_THAT(decisions->of(Path::Bf16), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(decisions->of(Path::Fp8), ElementsAre(1));
  const Decisions::Choice &shortOne = decisions->choices[0];
  EXPECT_THAT(shortOne.sequences, ElementsAre(0, 2));
  EXPECT_EQ(shortOne.decision.rule, "short-prompt");
  EXPECT_EQ(shortOne.values.scales, "dynamic");
  EXPECT_TRUE(shortOne.values.fp8Kernel);
  ASSERT_FALSE(shortOne.decision.flips.empty());
  EXPECT_EQ(shortOne.decision.flips[0].variable, "q_len");
  EXPECT_EQ(decisions->choices[3].values.contextLen, 100);
  EXPECT_EQ(decisions->choices[3].decision.rule, "context-not-enabled");
}

TEST(Dispatch, WithoutScalesThereIsNoFp8) {
  DispatchRequest none = request({{5000, 5000}});
  none.quantization.reset();
  auto decisions = decideSequences(none, *Policy::preset("default"));
  ASSERT_TRUE(decisions);
  EXPECT_EQ(decisions->choices[0].decision.rule, "no-scales");
  none.path = Path::Fp8;
  decisions = decideSequences(none, *Policy::preset("default"));
  ASSERT_TRUE(decisions);
  EXPECT_EQ(decisions->choices[0].decision.path, Path::Refuse);
  EXPECT_THAT(planDispatch(none, *decisions).status().message(),
              AllOf(HasSubstr("sequence 0 (5000 queries"), HasSubstr("there are no scales")));
}

TEST(Dispatch, OnePlanOfBothPaths) {
  const DispatchRequest mixed = request({{100, 100}, {700, 700}, {30, 30}, {900, 900}});
  const auto decisions = decideSequences(mixed, fp8From(512));
  ASSERT_TRUE(decisions);
  const auto plan = planDispatch(mixed, *decisions, {.splits = 2});
  ASSERT_TRUE(plan) << plan.status().message();
  EXPECT_THAT(plan->plain->sequences, ElementsAre(0, 2));
  EXPECT_THAT(plan->fp8->attention.sequences, ElementsAre(1, 3));
  const LaunchList list = plan->list();
  // The second list's addresses lie behind the first's workspace.
  EXPECT_EQ(list.workspaceBytes, plan->fp8Workspace + plan->fp8->workspaceBytes);
  EXPECT_GE(plan->fp8Workspace, plan->plain->workspaceBytes());
  ASSERT_EQ(list.zeros.size(), 1u);
  EXPECT_EQ(list.zeros[0].offset, plan->fp8Workspace + plan->fp8->zeros);
  int attention = 0;
  for (const LaunchStep &step : list.steps) {
    if (step.spec.isRowKernel())
      continue;
    ++attention;
    int outputs = 0;
    for (const AddressPlace &place : step.addresses)
      outputs += place.binding == Binding::Out || place.binding == Binding::Lse;
    EXPECT_EQ(outputs, 2) << "both write the caller's out and lse";
  }
  EXPECT_EQ(attention, 2);
}

TEST(Dispatch, F16InputsGiveF16OnBothPaths) {
  DispatchRequest mixed = request({{100, 100}, {700, 700}});
  mixed.problem.dtype = DType::F16;
  mixed.quantization->input = "f16";
  const auto decisions = decideSequences(mixed, fp8From(512));
  ASSERT_TRUE(decisions) << decisions.status().message();
  EXPECT_EQ(decisions->inputs, DType::F16);
  EXPECT_TRUE(decisions->choices[0].values.fp8Kernel);
  EXPECT_EQ(pathName(Path::Bf16, decisions->inputs), "f16");
  EXPECT_EQ(pathName(Path::Fp8, decisions->inputs), "fp8");
  EXPECT_EQ(pathName(Path::Refuse, decisions->inputs), "refuse");
  const auto plan = planDispatch(mixed, *decisions, {.splits = 2});
  ASSERT_TRUE(plan) << plan.status().message();
  EXPECT_EQ(plan->plain->spec().attention.dtype, DType::F16);
  EXPECT_FALSE(plan->plain->spec().attention.f16Out);
  EXPECT_EQ(plan->fp8->attention.spec().attention.dtype, DType::FP8);
  EXPECT_TRUE(plan->fp8->attention.spec().attention.f16Out);
  int quantisers = 0, reducers = 0;
  for (const KernelSpec &spec : plan->list().kernels()) {
    quantisers += spec.text().find("input=f16") != std::string::npos;
    reducers += spec.text().find("output=f16") != std::string::npos;
    EXPECT_EQ(spec.text().find("bf16"), std::string::npos) << spec.text();
  }
  EXPECT_GT(quantisers, 0);
  EXPECT_EQ(reducers, 1) << "one for both paths";
  mixed.quantization->input = "bf16";
  EXPECT_EQ(planDispatch(mixed, *decisions).status().message(),
            "the inputs are f16, the quantisers take bf16");
}

TEST(Dispatch, APathWithoutSequencesHasNoPart) {
  const DispatchRequest one = request({{10, 10}});
  const auto shortPlan = planDispatch(one, *decideSequences(one, fp8From(512)));
  ASSERT_TRUE(shortPlan);
  EXPECT_TRUE(shortPlan->plain && !shortPlan->fp8);
  const auto longPlan = planDispatch(one, *decideSequences(one, fp8From(1)));
  ASSERT_TRUE(longPlan);
  EXPECT_TRUE(!longPlan->plain && longPlan->fp8);
  const DispatchRequest empty = request({});
  EXPECT_TRUE(planDispatch(empty, *decideSequences(empty, fp8From(1)))->list().steps.empty());
}

TEST(Dispatch, WhatIsNotPlannedTakesNoWorkspace) {
  const auto workspaceOf = [](std::vector<SequenceLength> lengths) {
    const DispatchRequest mixed = request(std::move(lengths));
    const auto plan = planDispatch(mixed, *decideSequences(mixed, fp8From(512)));
    EXPECT_TRUE(plan) << plan.status().message();
    return plan ? plan->fp8->workspaceBytes : 0;
  };
  const std::uint64_t alone = workspaceOf({{2000, 2000}});
  EXPECT_EQ(workspaceOf({{2000, 2000}, {1, 65536}}), alone);
  EXPECT_EQ(workspaceOf({{1, 65536}, {2000, 2000}}), alone);
}

TEST(Dispatch, WithoutQueriesThereIsNothingToRefuse) {
  const auto policy = Policy::parse(R"({"schema": "wavesmith-policy-1", "name": "t", "rules": [
        {"name": "cached", "when": {"context_len": {"at_least": 1}}, "path": "refuse",
         "reason": "no cache here"},
        {"name": "else", "path": "bf16", "reason": "plain"}]})",
                                    "t");
  ASSERT_TRUE(policy) << policy.status().message();
  DispatchRequest padded = request({{5, 5}, {0, 9}});
  const auto plan = planDispatch(padded, *decideSequences(padded, *policy));
  ASSERT_TRUE(plan) << plan.status().message();
  EXPECT_THAT(plan->plain->sequences, ElementsAre(0));
  padded = request({{5, 5}, {1, 9}});
  EXPECT_FALSE(planDispatch(padded, *decideSequences(padded, *policy)));
}

TEST(Dispatch, RefusesInputsThatDoNotFit) {
  DispatchRequest wrong = request({{10, 10}});
  wrong.problem.dtype = DType::FP8;
  EXPECT_THAT(decideSequences(wrong, fp8From(1)).status().message(), HasSubstr("fp8 already"));
  wrong = request({{10, 10}});
  wrong.quantization->input = "f32";
  EXPECT_EQ(planDispatch(wrong, *decideSequences(wrong, fp8From(1))).status().message(),
            "the inputs are bf16, the quantisers take f32");
  wrong = request({{10, -1}});
  EXPECT_THAT(decideSequences(wrong, fp8From(1)).status().message(), HasSubstr("kv length is -1"));
}

} // namespace
} // namespace wavesmith
