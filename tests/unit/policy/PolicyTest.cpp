#include "runtime/dispatch/policy/Policy.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wavesmith::policy {
namespace {

using ::testing::HasSubstr;

Policy policyOf(const std::string &rules) {
  auto policy = Policy::parse(
      R"({"schema": "wavesmith-policy-1", "name": "test", "rules": [)" + rules + "]}", "test");
  EXPECT_TRUE(policy) << policy.status().message();
  return *std::move(policy);
}

const std::string kElseBf16 = R"({"name": "else", "path": "bf16", "reason": "else"})";

Values ready() {
  Values values;
  values.qLen = 2000;
  values.fp8Kernel = true;
  values.scales = "static";
  return values;
}

TEST(Policy, TheFirstRuleThatHoldsDecides) {
  const Policy policy = policyOf(
      R"({"name": "a", "when": {"q_len": {"at_least": 10, "below": 20}}, "path": "bf16", "reason": "r"},
         {"name": "b", "when": {"heads": [1, 3], "causal": true}, "path": "fp8", "reason": "r"},)" +
      kElseBf16);
  Values values = ready();
  values.causal = true;
  for (const auto &[qLen, rule] : {std::pair{9, "b"}, {10, "a"}, {19, "a"}, {20, "b"}}) {
    values.qLen = qLen;
    EXPECT_EQ(policy.decide(values).rule, rule) << qLen;
  }
  values.heads = 2;
  EXPECT_EQ(policy.decide(values).rule, "else");
  values.heads = 3;
  EXPECT_EQ(policy.decide(values).rule, "b");
  values.causal = false;
  EXPECT_EQ(policy.decide(values).rule, "else");
}

TEST(Policy, EveryVariableCanBeAsked) {
  for (const Variable &variable : variables()) {
    Values values = ready();
    const Value value = variable.get(values);
    const std::string shown =
        variable.kind == Variable::Kind::Word ? "\"" + toText(value) + "\"" : toText(value);
    const Policy policy = policyOf(R"({"name": "is", "when": {")" + std::string(variable.name) +
                                   "\": " + shown + R"(}, "path": "bf16", "reason": "r"},)" +
                                   R"({"name": "else", "path": "fp8", "reason": "r"})");
    EXPECT_EQ(policy.decide(values).rule, "is") << variable.name;
  }
}

TEST(Policy, RefusesFp8WithoutKernelOrScalesWhateverTheRulesSay) {
  const Policy policy = policyOf(R"({"name": "always", "path": "fp8", "reason": "r"})");
  EXPECT_EQ(policy.decide(ready()).path, Path::Fp8);
  Values values = ready();
  values.scales = "none";
  EXPECT_EQ(policy.decide(values).path, Path::Refuse);
  EXPECT_THAT(policy.decide(values).reason,
              AllOf(HasSubstr("rule always"), HasSubstr("no scales"), HasSubstr("1.0 by name")));
  values = ready();
  values.fp8Kernel = false;
  EXPECT_EQ(policy.decide(values).path, Path::Refuse);
  EXPECT_THAT(policy.decide(values).reason, HasSubstr("no FP8 kernel for gfx942"));
}

TEST(Policy, FlipsAreTheNearestChangesAndTrue) {
  const auto policy = Policy::preset("default");
  ASSERT_TRUE(policy);
  Values values = ready();
  values.qLen = 600;
  const Decision decision = policy->decide(values);
  ASSERT_EQ(decision.path, Path::Bf16);
  const auto found = std::ranges::find(decision.flips, "q_len", &Flip::variable);
  ASSERT_NE(found, decision.flips.end());
  EXPECT_EQ(found->value, "1024");
  EXPECT_EQ(found->path, Path::Fp8);
  EXPECT_EQ(found->rule, "long-prompt");
  EXPECT_EQ(decision.flips.size(), 1u) << "nothing else alone changes it";

  values.qLen = 4096;
  const Decision fp8 = policy->decide(values);
  ASSERT_EQ(fp8.path, Path::Fp8);
  for (const Flip &flip : fp8.flips) {
    if (flip.variable == "q_len") {
      EXPECT_EQ(flip.value, "1023");
    }
    if (flip.variable == "context_len") {
      EXPECT_EQ(flip.value, "1");
    }
  }
  EXPECT_GE(fp8.flips.size(), 4u); // q_len, context_len, scales, fp8_kernel
}

TEST(Policy, MeasuredCrossoversReplaceTheConstant) {
  const auto policy = Policy::preset("default");
  ASSERT_TRUE(policy);
  const Crossovers measured = [](std::string_view name, const Values &) {
    return name == "fp8_q_len" ? std::optional(Crossover{3000, "measured on MI325X, 12 heads"})
                               : std::nullopt;
  };
  Values values = ready();
  EXPECT_EQ(policy->decide(values).path, Path::Fp8);
  const Decision decision = policy->decide(values, measured);
  EXPECT_EQ(decision.path, Path::Bf16);
  EXPECT_THAT(decision.reason, HasSubstr("(threshold measured on MI325X, 12 heads)"));
  EXPECT_EQ(decision.flips.front().value, "3000");
  values.qLen = 3000;
  EXPECT_EQ(policy->decide(values, measured).path, Path::Fp8);
  // Where FP8 is never faster, no length is offered as a way to it.
  const Crossovers never = [](std::string_view, const Values &) {
    return std::optional(Crossover{Crossover::kNever, "measured"});
  };
  const Decision stays = policy->decide(values, never);
  EXPECT_EQ(stays.path, Path::Bf16);
  for (const Flip &flip : stays.flips)
    EXPECT_NE(flip.variable, "q_len");
}

TEST(Policy, ComesFromTheEnvironment) {
  ASSERT_EQ(::unsetenv("WAVESMITH_POLICY"), 0);
  EXPECT_EQ(Policy::fromEnvironment()->name(), "default");
  ASSERT_EQ(::setenv("WAVESMITH_POLICY", "bf16-under-1024", 1), 0);
  EXPECT_EQ(Policy::fromEnvironment()->name(), "bf16-under-1024");
  const std::string file = ::testing::TempDir() + "policy.json";
  std::ofstream(file) << R"({"schema": "wavesmith-policy-1", "name": "mine", "rules": [)"
                      << kElseBf16 << "]}";
  ASSERT_EQ(::setenv("WAVESMITH_POLICY", file.c_str(), 1), 0);
  EXPECT_EQ(Policy::fromEnvironment()->name(), "mine");
  ASSERT_EQ(::setenv("WAVESMITH_POLICY", "nonsense", 1), 0);
  EXPECT_THAT(Policy::fromEnvironment().status().message(), HasSubstr("neither a file"));
  ASSERT_EQ(::setenv("WAVESMITH_POLICY", (file + ".none.json").c_str(), 1), 0);
  EXPECT_EQ(Policy::fromEnvironment().status().code(), StatusCode::NotFound);
  ASSERT_EQ(::unsetenv("WAVESMITH_POLICY"), 0);
}

} // namespace
} // namespace wavesmith::policy
