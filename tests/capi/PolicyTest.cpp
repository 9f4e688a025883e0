// Which sequences of a batch take FP8: the policy of the context, the scales of the call, the
// caller's word. What each path computes: RowResultsTest.cpp.

#include <nlohmann/json.hpp>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

class PolicyChoice : public CapiTest {
protected:
  /// A context with that policy.
  static wavesmith_context with(const char *policy) {
    wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
    options.device = WAVESMITH_DEVICE_EMULATOR;
    options.policy = policy;
    wavesmith_context made = nullptr;
    EXPECT_TRUE(ok(wavesmith_context_create(&options, &made)));
    return made;
  }
  struct Planned {
    wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
    std::string rule;
    nlohmann::json explained;
  };
  static Planned planned(wavesmith_context context, const wavesmith_attention &attention) {
    Planned result;
    wavesmith_plan plan = nullptr;
    EXPECT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &result.info)));
    if (!plan)
      return result;
    result.rule = result.info.rule;
    const char *json = nullptr;
    EXPECT_TRUE(ok(wavesmith_plan_explain(plan, &json)));
    result.explained = nlohmann::json::parse(json);
    EXPECT_TRUE(ok(wavesmith_plan_destroy(plan)));
    return result;
  }
};

TEST_F(PolicyChoice, AMixedBatchIsSplitBySequence) {
  const std::int32_t lengths[] = {0, 600, 3600, 4200};
  wavesmith_attention attention = description();
  attention.batch = 3;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = lengths;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  const Planned mixed = planned(context, attention);
  EXPECT_EQ(mixed.info.path, WAVESMITH_PATH_MIXED);
  EXPECT_EQ(mixed.rule, "several");
  EXPECT_GT(mixed.info.saturated_q, 0u);
  EXPECT_GT(mixed.info.saturated_v, mixed.info.saturated_q);
  const nlohmann::json &sequences = mixed.explained.at("sequences");
  ASSERT_EQ(sequences.size(), 2u);
  EXPECT_EQ(sequences[0].at("path"), "bf16");
  EXPECT_EQ(sequences[0].at("sequences"), nlohmann::json::array({0, 2}));
  EXPECT_EQ(sequences[0].at("rule"), "short-prompt");
  EXPECT_EQ(sequences[1].at("path"), "fp8");
  EXPECT_EQ(sequences[1].at("sequences"), nlohmann::json::array({1}));
  EXPECT_FALSE(sequences[1].at("flips").empty());

  attention.path = WAVESMITH_PATH_BF16;
  EXPECT_EQ(planned(context, attention).info.path, WAVESMITH_PATH_BF16);
  attention.path = WAVESMITH_PATH_FP8;
  const Planned all = planned(context, attention);
  EXPECT_EQ(all.info.path, WAVESMITH_PATH_FP8);
  EXPECT_EQ(all.rule, "explicit");
  attention.path = 0;
  attention.scales = WAVESMITH_SCALES_NONE;
  EXPECT_EQ(planned(context, attention).rule, "no-scales");
}

TEST_F(PolicyChoice, ThePublishedPoliciesTurnWhereTheySay) {
  std::int32_t q[] = {0, 1023}, kv[] = {0, 1023};
  wavesmith_attention attention = description();
  attention.batch = 1;
  attention.cu_seqlens_q = q;
  attention.cu_seqlens_kv = kv;
  attention.scales = WAVESMITH_SCALES_UNIT;
  const wavesmith_context under1024 = with("bf16-under-1024");
  EXPECT_EQ(planned(under1024, attention).info.path, WAVESMITH_PATH_BF16);
  q[1] = kv[1] = 1024;
  EXPECT_EQ(planned(under1024, attention).info.path, WAVESMITH_PATH_FP8);
  kv[1] = 1025;
  EXPECT_EQ(planned(under1024, attention).rule, "has-context");
  ASSERT_TRUE(ok(wavesmith_context_destroy(under1024)));

  const wavesmith_context context786432 = with("fp8-context-786432");
  q[1] = 16;
  kv[1] = 786432 + 16;
  attention.splits = 1;
  EXPECT_EQ(planned(context786432, attention).info.path, WAVESMITH_PATH_BF16) << "without consent";
  attention.flags |= WAVESMITH_FP8_CONTEXT;
  EXPECT_EQ(planned(context786432, attention).info.path, WAVESMITH_PATH_FP8);
  --kv[1];
  EXPECT_EQ(planned(context786432, attention).info.path, WAVESMITH_PATH_BF16);
  ASSERT_TRUE(ok(wavesmith_context_destroy(context786432)));
}

TEST_F(PolicyChoice, RulesAsTextDecide) {
  const wavesmith_context always = with(
      R"({"schema": "wavesmith-policy-1", "name": "always",
          "rules": [{"name": "all", "path": "fp8", "reason": "says the test"}]})");
  wavesmith_attention attention = description();
  attention.scales = WAVESMITH_SCALES_STATIC;
  const Planned fp8 = planned(always, attention);
  EXPECT_EQ(fp8.info.path, WAVESMITH_PATH_FP8);
  EXPECT_EQ(fp8.rule, "all");
  // The same rule without scales is refused, not bent.
  attention.scales = WAVESMITH_SCALES_NONE;
  wavesmith_plan plan = nullptr;
  EXPECT_TRUE(refused(wavesmith_plan_attention(always, &attention, &plan, nullptr),
                      WAVESMITH_UNSUPPORTED, "sequence 0", "no scales"));
  ASSERT_TRUE(ok(wavesmith_context_destroy(always)));
}

TEST_F(PolicyChoice, PrepareCoversBothPaths) {
  wavesmith_attention attention = description();
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  attention.rotation = 3;
  const wavesmith_attention *attentions[] = {&attention};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attentions = attentions;
  options.attention_count = 1;
  ASSERT_TRUE(ok(wavesmith_prepare(context, &options)));
  wavesmith_statistics counts = WAVESMITH_INIT(wavesmith_statistics);
  ASSERT_TRUE(ok(wavesmith_get_statistics(context, &counts)));
  const std::uint64_t compiles = counts.compiles;
  const std::int32_t lengths[] = {0, 600, 3600, 3600};
  attention.batch = 3;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = lengths;
  for (const std::int32_t path : {0, WAVESMITH_PATH_BF16 + 0, WAVESMITH_PATH_FP8 + 0})
    for (const std::int32_t splits : {0, 1, 3}) {
      attention.path = path;
      attention.splits = splits;
      (void)planned(context, attention);
    }
  ASSERT_TRUE(ok(wavesmith_get_statistics(context, &counts)));
  EXPECT_EQ(counts.compiles, compiles);
}

} // namespace
} // namespace wavesmith::test
