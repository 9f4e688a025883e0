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
  EXPECT_THAT(policy.status().message(), HasSubstr("my.json"));
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
  EXPECT_THAT(refusal(""), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal("{"), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("want an object, is [1]"));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"schema\" is missing"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-9", "name": "n", "rules": []})"),
              AllOf(HasSubstr("wavesmith-policy-9"), HasSubstr("reads \"wavesmith-policy-1\"")));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "rules": []})"),
              HasSubstr("\"name\" is missing"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": 3, "rules": []})"),
              HasSubstr("my.json.name: want a text, is 3"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": "n"})"),
              HasSubstr("\"rules\" is missing"));
  EXPECT_THAT(refusal(withRules("")), HasSubstr("my.json.rules: want 1 to 256 rules"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": "n", "rule": []})"),
              HasSubstr("unknown name \"rule\"; want schema, name, rules"));
  EXPECT_THAT(refusal(R"({"schema": "wavesmith-policy-1", "name": "n", "name": "m", "rules": []})"),
              HasSubstr("the name \"name\" is given twice"));
}

TEST(PolicyReader, RefusesBadRules) {
  EXPECT_THAT(refusal(withRules("3")), HasSubstr("my.json.rules[0]: want an object, is 3"));
  EXPECT_THAT(refusal(withRules(R"({"path": "bf16", "reason": "r"})")),
              HasSubstr("my.json.rules[0]: \"name\" is missing"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "path": "bf16"})")),
              HasSubstr("\"reason\" is missing"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r"})")),
              HasSubstr("\"path\" is missing"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp16"})")),
              HasSubstr("rules[0].path: want bf16, fp8 or refuse, is \"fp16\""));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp8", "when": 1})")),
              HasSubstr("rules[0].when: want an object of conditions, is 1"));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp8", "If": {}})")),
              HasSubstr("unknown name \"If\""));
  EXPECT_THAT(refusal(withRules(R"({"name": "a", "reason": "r", "path": "fp8"},
                                   {"name": "b", "reason": "r", "path": "fp8"})")),
              HasSubstr("rules[0]: without conditions it always holds"));
  EXPECT_THAT(refusal(withRules(
                  R"({"name": "a", "reason": "r", "path": "fp8", "when": {"causal": true}})")),
              HasSubstr("rules[0]: the last rule must have no condition"));
  EXPECT_THAT(refusal(withRules(
                  R"({"name": "a", "reason": "r", "path": "fp8", "when": {"causal": true}},
                     {"name": "a", "reason": "r", "path": "fp8"})")),
              HasSubstr("rules[1].name: want a name that no other rule has, is \"a\""));
}

TEST(PolicyReader, RefusesBadConditions) {
  EXPECT_EQ(refusal(withCondition(R"("causal": true)")), "accepted");
  EXPECT_THAT(
      refusal(withCondition(R"("qlen": 1)")),
      AllOf(HasSubstr("no value is called \"qlen\""), HasSubstr("known: target, head_dim")));
  EXPECT_THAT(refusal(withCondition(R"("causal": 1)")), HasSubstr("want true or false"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": -1)")),
              HasSubstr("when.q_len: want a whole number from 0 to 9223372036854775807, is -1"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": 1.5)")), HasSubstr("whole number"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": 18446744073709551615)")),
              HasSubstr("whole number"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": [])")),
              HasSubstr("want a value; nothing equals one of none, is []"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {})")), HasSubstr("want \"below\""));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {"above": 1})")),
              HasSubstr("unknown name \"above\"; want below, at_least"));
  EXPECT_THAT(refusal(withCondition(R"("target": {"below": 1})")),
              HasSubstr("when.target: no number"));
  EXPECT_THAT(refusal(withCondition(R"("target": "gfx90a")")),
              HasSubstr("when.target: want one of: gfx942, gfx950, is \"gfx90a\""));
  EXPECT_THAT(refusal(withCondition(R"("scales": "static", "scales": "none")")),
              HasSubstr("the name \"scales\" is given twice"));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {"below": {"crossover": "fp8_q_len"}})")),
              HasSubstr("\"default\" is missing"));
  EXPECT_THAT(
      refusal(withCondition(R"("q_len": {"below": {"crossover": "fp8_qlen", "default": 1}})")),
      HasSubstr("crossover: want one of: fp8_q_len, fp8_context_len, is \"fp8_qlen\""));
  EXPECT_THAT(refusal(withCondition(R"("q_len": {"below": {"default": 1}})")),
              HasSubstr("\"crossover\" is missing"));
}

TEST(PolicyReader, MessagesStayShort) {
  const std::string longName(100000, 'x');
  EXPECT_LT(refusal(withCondition("\"" + longName + "\": 1")).size(), 400u);
  EXPECT_LT(refusal(withRules("\"" + longName + "\"")).size(), 400u);
  EXPECT_LT(refusal("{\"" + longName + "\" 1}").size(), 400u);
}

TEST(PolicyReader, RefusesEndlessNesting) {
  const std::string deep(200000, '[');
  EXPECT_THAT(refusal(deep), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(deep + std::string(200000, ']')), HasSubstr("nests deeper than 64 levels"));
  EXPECT_THAT(refusal(withCondition("\"q_len\": " + deep + std::string(200000, ']'))),
              HasSubstr("nests deeper than 64 levels"));
}

} // namespace
} // namespace wavesmith::policy
