// No policy leads to a call without a kernel: every rule of every preset is reached, with every
// target, head dims, scales and lengths around its thresholds, and each decision is planned into
// kernels that the family lists (runtime/spec/KernelFamily.h), or refused with a sentence.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "runtime/dispatch/Dispatch.h"
#include "runtime/spec/KernelFamily.h"

namespace wavesmith {
namespace {

using policy::Path;
using policy::Policy;

/// Numbers on both sides of each threshold that a policy compares a value with, and some plain
/// ones.
std::set<std::int64_t> numbersAround(const Policy &policy, std::string_view variable,
                                     std::set<std::int64_t> numbers) {
  for (const policy::Rule &rule : policy.rules())
    for (const policy::Condition &condition : rule.when) {
      if (condition.variable->name != variable)
        continue;
      if (condition.test != policy::Condition::Test::OneOf)
        numbers.insert({condition.threshold.number - 1, condition.threshold.number});
      for (const policy::Value &value : condition.values)
        numbers.insert(std::get<std::int64_t>(value));
    }
  return numbers;
}

/// A pair of shared heads and such that a rule names.
struct Heads {
  std::int64_t query, keys;
};

class PolicyClosure : public testing::TestWithParam<std::string_view> {
protected:
  PolicyClosure() : policy(*Policy::preset(GetParam())) {
    for (const Target &target : knownTargets())
      for (const KernelSpec &spec : kernelFamily(target.name))
        family.insert(spec.text());
  }

  /// Every scales, consent and mask of a call that is otherwise given.
  void walk(DispatchRequest request) {
    using Scales = Quantization::Scales;
    for (const std::optional<Scales> scales :
         {std::optional<Scales>(), std::optional(Scales::Given), std::optional(Scales::Dynamic),
          std::optional(Scales::Unit)})
      for (const bool consent : {false, true})
        for (const bool causal : {false, true}) {
          request.quantization.reset();
          if (scales)
            request.quantization = Quantization{.scales = *scales};
          request.fp8Context = consent;
          request.problem.causal = causal;
          decide(request);
        }
  }

  void decide(const DispatchRequest &request) {
    const auto decisions = decideSequences(request, policy);
    ASSERT_TRUE(decisions) << decisions.status().message();
    const policy::Decision &decision = decisions->choices.front().decision;
    fired.insert(decision.rule);
    ++decided;
    const auto plan = planDispatch(request, *decisions);
    if (decision.path == Path::Refuse) {
      EXPECT_EQ(plan.status().code(), StatusCode::Unsupported);
      EXPECT_NE(plan.status().message().find(decision.reason), std::string::npos);
      // FP8 is refused for want of scales or a kernel, and for nothing else.
      EXPECT_FALSE(policy::checkFp8(decisions->choices.front().values).isOk());
      return;
    }
    ASSERT_TRUE(plan) << plan.status().message();
    bool fp8 = false;
    for (const KernelSpec &spec : plan->list().kernels()) {
      EXPECT_TRUE(family.contains(spec.text())) << spec.text();
      ++kernels;
      fp8 = fp8 || (!spec.isRowKernel() && spec.attention.dtype == DType::FP8);
    }
    EXPECT_EQ(fp8, decision.path == Path::Fp8);
    EXPECT_TRUE(!fp8 || request.quantization) << "FP8 without scales";
  }

  const Policy policy;
  std::set<std::string> family, fired;
  int decided = 0, kernels = 0;
};

TEST_P(PolicyClosure, EveryRuleLeadsToKernelsThatExist) {
  const auto queries = numbersAround(policy, "q_len", {1, 1500});
  const auto contexts = numbersAround(policy, "context_len", {0, 1, 9000});
  for (const Target &target : knownTargets())
    for (const HeadDims &dims : headDims())
      for (const Heads heads : {Heads{12, 12}, {1, 1}, {8, 2}}) {
        if (heads.query != 12 && dims.qk != 192)
          continue; // heads and dims know nothing of each other
        for (const std::int64_t q : queries)
          for (const std::int64_t context : contexts) {
            DispatchRequest request;
            request.problem.target = target.name;
            request.problem.headDimQk = dims.qk;
            request.problem.headDimV = dims.v;
            request.problem.heads = heads.query;
            request.problem.kvHeads = heads.keys;
            request.problem.lengths = {{q, q + context}};
            walk(request);
          }
      }
  EXPECT_GT(decided, 1000);
  EXPECT_GT(kernels, 1000);
  // A rule that no call reaches would be one that nobody can test.
  for (const policy::Rule &rule : policy.rules())
    if (rule.name != "no-fp8-kernel") // today every head dim has one on both targets
      EXPECT_TRUE(fired.contains(rule.name)) << rule.name;
}

std::string nameOf(const testing::TestParamInfo<std::string_view> &info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Presets, PolicyClosure, testing::ValuesIn(Policy::presetNames()), nameOf);

/// The refusal that stands behind every policy, also one that forgets to ask for scales.
TEST(PolicyRefusal, Fp8WithoutScalesIsRefusedWhateverARuleSays) {
  const auto always = Policy::parse(
      R"({"schema": "wavesmith-policy-1", "name": "always",
          "rules": [{"name": "all", "path": "fp8", "reason": "says the test"}]})",
      "test");
  ASSERT_TRUE(always);
  DispatchRequest request;
  request.problem.lengths = {{4096, 4096}};
  const auto decisions = decideSequences(request, *always);
  ASSERT_TRUE(decisions);
  const auto plan = planDispatch(request, *decisions);
  EXPECT_EQ(plan.status().code(), StatusCode::Unsupported);
  EXPECT_NE(plan.status().message().find("there are no scales"), std::string::npos);
  request.path = Path::Fp8;
  EXPECT_EQ(planDispatch(request, *decideSequences(request, *always)).status().code(),
            StatusCode::Unsupported)
      << "nor for a caller who insists";
}

} // namespace
} // namespace wavesmith
