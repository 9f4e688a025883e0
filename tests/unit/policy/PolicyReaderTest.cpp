// Every way in which a policy can be wrong has its own sentence.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/dispatch/policy/Policy.h"

namespace wavesmith::policy {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string &json) {
  const auto policy = Policy::parse(json, "my.json");
  if (policy)
    return "accepted";
  EXPECT_THAT(policy.status().message(), HasSubstr("policy my.json: "));
  return policy.status().message();
}

std::string withRules(const std::string &rules) {
  return R"({"schema": "wavesmith-policy-1", "name": "n", "rules": [)" + rules + "]}";
}
std::string withCondition(const std::string &condition) {
  return withRules(R"({"name": "a", "when": {)" + condition +
                   R"(}, "path": "bf16", "reason": "r"}, )"
                   R"({"name": "else", "path": "bf16", "reason": "r"})");
}

TEST(PolicyReader, RefusesWhatIsNoPolicy) {
  EXPECT_THAT(refusal(""), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("{"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("is [1]; want an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"schema\" is missing"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-9", "name": "n", "rules": []})"),
              AllOf(HasSubstr("wavesmith-policy-9"), HasSubstr("reads \"wavesmith-policy-1\"")));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "rules": []})"),
              HasSubstr("\"name\" is missing"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": 3, "rules": []})"),
              HasSubstr("\"name\" is 3"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": "n"})"),
              HasSubstr("a list of 1 to 256 rules"));
  EXPECT_THAT(refusal(withRules("")), HasSubstr("a list of 1 to 256 rules"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": "n", "rule": []})"),
              HasSubstr("unknown key \"rule\"; known: schema, name, rules"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": "n", "name": "m", "rules": []})"),
              HasSubstr("the key \"name\" appears twice"));
}

TEST(PolicyReader, RefusesBadRules) {
  EXPECT_THAT(refusal(withRules("3")), HasSubstr("rule 1: is 3; want an object"));
  EXPECT_THAT(refusal(withRules(R"({"path": "bf16", "reason": "r"})")),
              HasSubstr("rule 1: \"name\" is missing"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "path": "bf16"})")),
              HasSubstr("\"reason\" is missing"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r"})")),
              HasSubstr("\"path\" is missing"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp16"})")),
              HasSubstr("\"path\" is \"fp16\"; want bf16, fp8 or refuse"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp8", "when": 1})")),
              HasSubstr("\"when\" is 1"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp8", "If": {}})")),
              HasSubstr("unknown key \"If\""));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp8"},
                                   {"name": "b", "reason": "r", "path": "fp8"})")),
              HasSubstr("rule 1 (a) always holds"));
  EXPECT_THAT(refusal(withRules(
                  R"({"name": "a", "reason": "r", "path": "fp8", "when": {"causal": true}})")),
              HasSubstr("the last rule (a) has conditions"));
  EXPECT_THAT(refusal(withRules(
                  R"({"name": "a", "reason": "r", "path": "fp8", "when": {"causal": true}},
                     {"name": "a", "reason": "r", "path": "fp8"})")),
              HasSubstr("rule 2: the name \"a\" is taken"));
}

TEST(PolicyReader, RefusesBadConditions) {
  EXPECT_EQ(refusal(withCondition(R"("causal": true)")), "accepted");
  EXPECT_THAT(
      refusal(withCondition(R"("qlen": 1)")),
      AllOf(HasSubstr("no value is called \"qlen\""), HasSubstr("known: target, head_dim")));
  EXPECT_THAT(refusal(withCondition(R"("causal": 1)")), HasSubstr("want true or false"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": -1)")), HasSubstr("q_len is -1"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": 1.5)")), HasSubstr("whole number"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": 18446744073709551615)")),
              HasSubstr("whole number"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": [])")), HasSubstr("an empty list"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {})")), HasSubstr("want \"below\""));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {"above": 1})")),
              HasSubstr("unknown key \"above\"; known: below, at_least"));
  EXPECT_THAT(refusal(withCondition(R"("target": {"below": 1})")),
              HasSubstr("target is no number"));
  EXPECT_THAT(refusal(withCondition(R"("target": "gfx90a")")),
              HasSubstr("target is \"gfx90a\"; want one of: gfx942, gfx950"));
  EXPECT_THAT(refusal(withCondition(R"("scales": "static", "scales": "none")")),
              HasSubstr("the key \"scales\" appears twice"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {"below": {"crossover": "x"}})")),
              HasSubstr("\"x\" has no \"default\""));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {"below": {"default": 1}})")),
              HasSubstr("\"crossover\" is missing"));
}

TEST(PolicyReader, MessagesStayShort) {
  const std::string longName(100000, 'x');
  EXPECT_LT(refusal(withCondition("\"" + longName + "\": 1")).size(), 400u);
  EXPECT_LT(refusal(withRules("\"" + longName + "\"")).size(), 400u);
}

} // namespace
} // namespace wavesmith::policy
