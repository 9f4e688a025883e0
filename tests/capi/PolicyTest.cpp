// Which sequences of a batch take FP8: the policy of the context, the scales of the call, the
// caller's word. What each path computes: RowResultsTest.cpp.

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/dispatch/tuning/TuningDatabase.h"
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

TEST_F(PolicyChoice, F16InputsAreNamedAndGiveF16) {
  const std::int32_t lengths[] = {0, 600, 3600};
  wavesmith_attention attention = description();
  attention.dtype = WAVESMITH_F16;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = lengths;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  attention.splits = 2;
  const auto specsOf = [](const Planned &planned) {
    std::string all;
    for (const nlohmann::json &kernel : planned.explained.at("kernels"))
      all += kernel.at("spec").get<std::string>() + "\n";
    return all;
  };
  const Planned mixed = planned(context, attention);
  EXPECT_EQ(mixed.info.path, WAVESMITH_PATH_MIXED);
  EXPECT_EQ(mixed.explained.at("sequences")[0].at("path"), "f16");
  EXPECT_EQ(mixed.explained.at("sequences")[1].at("path"), "fp8");
  EXPECT_EQ(mixed.explained.at("sequences")[1].at("flips")[0].at("path"), "f16");
  EXPECT_THAT(mixed.explained.at("reason").get<std::string>(),
              testing::HasSubstr("1 sequences take f16, 1 take fp8"));
  // Nothing of it, quantisers and reducers included, is bf16.
  EXPECT_THAT(mixed.explained.dump(), testing::Not(testing::HasSubstr("bf16")));
  EXPECT_THAT(specsOf(mixed),
              AllOf(testing::HasSubstr("dtype=f16"), testing::HasSubstr("f16out=1"),
                    testing::HasSubstr("input=f16"), testing::HasSubstr("output=f16")));

  attention.path = WAVESMITH_PATH_BF16;
  const Planned plain = planned(context, attention);
  EXPECT_EQ(plain.info.path, WAVESMITH_PATH_BF16);
  EXPECT_EQ(plain.explained.at("path"), "f16");

  attention.path = 0;
  attention.scales = WAVESMITH_SCALES_NONE;
  attention.splits = 0;
  attention.lengths = WAVESMITH_LENGTHS_ON_DEVICE;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = nullptr;
  attention.max_total_q = attention.max_total_kv = 5000;
  const Planned onDevice = planned(context, attention);
  EXPECT_EQ(onDevice.info.path, WAVESMITH_PATH_BF16);
  EXPECT_EQ(onDevice.explained.at("path"), "f16");
  EXPECT_EQ(onDevice.explained.at("reason"),
            "the lengths are on the device, so the inputs stay f16");
}

TEST_F(PolicyChoice, APassOverF16MergesF16) {
  const std::int32_t cached[] = {0, 64, 90};
  const std::int32_t *const segments[] = {cached};
  wavesmith_attention attention = description();
  attention.dtype = WAVESMITH_F16;
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.attention = &attention;
  options.segments = segments;
  options.segment_count = 1;
  for (const std::int32_t path : {WAVESMITH_PATH_BF16, WAVESMITH_PATH_FP8}) {
    attention.path = path;
    attention.scales = path == WAVESMITH_PATH_FP8 ? WAVESMITH_SCALES_UNIT : WAVESMITH_SCALES_NONE;
    wavesmith_pass pass = nullptr;
    ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, nullptr)));
    const char *json = "";
    EXPECT_TRUE(ok(wavesmith_pass_explain(pass, &json)));
    EXPECT_THAT(json,
                AllOf(testing::HasSubstr("element=f16"), testing::Not(testing::HasSubstr("bf16"))));
    EXPECT_TRUE(ok(wavesmith_pass_destroy(pass)));
  }
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

TEST_F(PolicyChoice, ATuningDatabaseMovesThresholds) {
  const std::string path = testing::TempDir() + "capi-tuning.db";
  std::remove(path.c_str());
  // FP8 is faster from 2048 tokens on.
  std::vector<tuning::Record> records;
  for (const std::int64_t length : {1024, 2048})
    for (const policy::Path way : {policy::Path::Bf16, policy::Path::Fp8}) {
      tuning::Record record;
      record.device = "MI325X";
      record.target = "gfx942";
      record.headDim = "192x128";
      record.heads = record.kvHeads = 12;
      record.causal = true;
      record.qLen = record.kvLen = length;
      record.path = way;
      record.scales = way == policy::Path::Fp8 ? "dynamic" : "none";
      record.toolchain = tuning::toolchainId(Toolchain::builtin());
      record.microseconds = way == policy::Path::Bf16 ? 10 : length == 1024 ? 11 : 9;
      records.push_back(record);
    }
  ASSERT_TRUE(tuning::writeDatabase(path, records).isOk());

  const std::int32_t lengths[] = {0, 1500, 3600};
  wavesmith_attention attention = description();
  attention.cu_seqlens_q = attention.cu_seqlens_kv = lengths;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  EXPECT_EQ(planned(context, attention).info.path, WAVESMITH_PATH_FP8)
      << "1024 by the policy alone";
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  options.tuning = path.c_str();
  wavesmith_context tuned = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &tuned)));
  const Planned mixed = planned(tuned, attention);
  EXPECT_EQ(mixed.info.path, WAVESMITH_PATH_MIXED);
  const nlohmann::json &shorter = mixed.explained.at("sequences").at(0);
  EXPECT_EQ(shorter.at("path"), "bf16");
  EXPECT_THAT(shorter.at("reason").get<std::string>(),
              testing::HasSubstr("FP8 is faster from 2048: modelled on MI325X, 12 heads"));
  ASSERT_TRUE(ok(wavesmith_context_destroy(tuned)));

  options.tuning = "off";
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &tuned)));
  EXPECT_EQ(planned(tuned, attention).info.path, WAVESMITH_PATH_FP8);
  ASSERT_TRUE(ok(wavesmith_context_destroy(tuned)));
  std::ofstream(path) << "no database";
  options.tuning = path.c_str();
  EXPECT_TRUE(refused(wavesmith_context_create(&options, &tuned), WAVESMITH_CORRUPT, path.c_str(),
                      "not a database"));
  options.tuning = "";
  EXPECT_TRUE(invalid(wavesmith_context_create(&options, &tuned), "options.tuning is empty"));
  options.tuning = "/nowhere/tuning.db";
  EXPECT_TRUE(refused(wavesmith_context_create(&options, &tuned), WAVESMITH_NOT_FOUND, "/nowhere"));
  std::remove(path.c_str());
}

TEST_F(PolicyChoice, EachSequenceHasItsDecision) {
  const std::int32_t lengths[] = {0, 600, 3600};
  wavesmith_attention attention = description();
  attention.cu_seqlens_q = attention.cu_seqlens_kv = lengths;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  const wavesmith_plan mixed = plan(attention);
  wavesmith_decision decision = WAVESMITH_INIT(wavesmith_decision);
  ASSERT_TRUE(ok(wavesmith_plan_get_decision(mixed, 0, &decision)));
  EXPECT_EQ(decision.path, WAVESMITH_PATH_BF16);
  EXPECT_STREQ(decision.rule, "short-prompt");
  ASSERT_TRUE(ok(wavesmith_plan_get_decision(mixed, 1, &decision)));
  EXPECT_EQ(decision.path, WAVESMITH_PATH_FP8);
  EXPECT_STRNE(decision.reason, "");
  for (const std::int64_t sequence : {std::int64_t{-1}, std::int64_t{2}, INT64_MIN})
    EXPECT_TRUE(invalid(wavesmith_plan_get_decision(mixed, sequence, &decision), "sequence is",
                        "the batch has 2"));
  EXPECT_TRUE(invalid(wavesmith_plan_get_decision(mixed, 0, nullptr), "decision is null"));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(mixed)));

  attention.dtype = WAVESMITH_FP8;
  attention.scales = WAVESMITH_SCALES_NONE;
  const wavesmith_plan fp8 = plan(attention);
  ASSERT_TRUE(ok(wavesmith_plan_get_decision(fp8, 1, &decision)));
  EXPECT_EQ(decision.path, WAVESMITH_PATH_FP8);
  EXPECT_STREQ(decision.rule, "inputs");
  ASSERT_TRUE(ok(wavesmith_plan_destroy(fp8)));
}

TEST_F(PolicyChoice, APassDecidesByAllItsKeysAndQuantisesQueriesOnce) {
  // 2000 new tokens over 4000 and over none; 600 over none.
  const std::int32_t fresh[] = {0, 2000, 4000, 4600};
  const std::int32_t first[] = {0, 3000, 3000, 3000}, second[] = {0, 1000, 1000, 1000};
  const std::int32_t *const segments[] = {first, second};
  wavesmith_attention attention = description();
  attention.batch = 3;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = fresh;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.attention = &attention;
  options.segments = segments;
  options.segment_count = 2;
  const auto begin = [&](wavesmith_context with, wavesmith_pass_info &info) {
    wavesmith_pass pass = nullptr;
    EXPECT_TRUE(ok(wavesmith_pass_begin(with, &options, &pass, &info)));
    return pass;
  };
  wavesmith_pass_info info = WAVESMITH_INIT(wavesmith_pass_info);
  const wavesmith_pass pass = begin(context, info);
  EXPECT_EQ(info.path, WAVESMITH_PATH_MIXED);
  EXPECT_STREQ(info.rule, "several");
  EXPECT_GT(info.saturated_q, 0u);
  wavesmith_decision decision = WAVESMITH_INIT(wavesmith_decision);
  const std::int32_t paths[] = {WAVESMITH_PATH_BF16, WAVESMITH_PATH_FP8, WAVESMITH_PATH_BF16};
  for (const std::int64_t sequence : {0, 1, 2}) {
    ASSERT_TRUE(ok(wavesmith_pass_get_decision(pass, sequence, &decision)));
    EXPECT_EQ(decision.path, paths[sequence]) << sequence;
  }
  EXPECT_TRUE(invalid(wavesmith_pass_get_decision(pass, 3, &decision), "sequence is 3"));
  EXPECT_TRUE(invalid(wavesmith_pass_explain(pass, nullptr), "json is null"));
  const char *text = nullptr;
  ASSERT_TRUE(ok(wavesmith_pass_explain(pass, &text)));
  const nlohmann::json explained = nlohmann::json::parse(text);
  EXPECT_EQ(explained.at("segments"), 2);
  EXPECT_EQ(explained.at("sequences").at(0).at("values").at("context_len"), 4000);
  ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));

  // All FP8: three parts have keys and values, once there are queries.
  attention.path = WAVESMITH_PATH_FP8;
  wavesmith_pass_info all = WAVESMITH_INIT(wavesmith_pass_info);
  const wavesmith_pass fp8 = begin(context, all);
  ASSERT_TRUE(ok(wavesmith_pass_explain(fp8, &text)));
  const nlohmann::json allOfIt = nlohmann::json::parse(text);
  std::map<std::string, int> launches;
  for (const nlohmann::json &kernel : allOfIt.at("kernels")) {
    const std::string spec = kernel.at("spec");
    launches[spec.substr(0, spec.find(' '))] += kernel.at("launches").get<int>();
  }
  EXPECT_EQ(launches["quantize"], 1 + 2 + 2 + 2) << text;
  EXPECT_EQ(launches["amax"], 1 + 2 + 2 + 2) << text;
  EXPECT_EQ(launches["merge_states"], 2) << text;
  int sum = 0;
  for (const auto &[kernel, count] : launches)
    sum += count;
  EXPECT_EQ(static_cast<int>(all.launches), sum);
  ASSERT_TRUE(ok(wavesmith_pass_destroy(fp8)));

  // The context counts: with consent from 786,432 cached tokens on.
  const std::int32_t most[] = {0, 783432, 783432, 783432};
  const std::int32_t *const long_[] = {first, most};
  const wavesmith_context context786432 = with("fp8-context-786432");
  attention.path = 0;
  attention.splits = 1;
  attention.flags |= WAVESMITH_FP8_CONTEXT;
  options.segments = long_;
  const wavesmith_pass opted = begin(context786432, info);
  ASSERT_TRUE(ok(wavesmith_pass_get_decision(opted, 0, &decision)));
  EXPECT_EQ(decision.path, WAVESMITH_PATH_FP8);
  ASSERT_TRUE(ok(wavesmith_pass_get_decision(opted, 1, &decision)));
  EXPECT_EQ(decision.path, WAVESMITH_PATH_BF16);
  ASSERT_TRUE(ok(wavesmith_pass_destroy(opted)));
  ASSERT_TRUE(ok(wavesmith_context_destroy(context786432)));
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
