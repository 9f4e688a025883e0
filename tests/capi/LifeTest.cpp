// The life of contexts and plans: what is found by value, what prepare does, what is told.

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

using testing::HasSubstr;

class Life : public CapiTest {
protected:
  wavesmith_statistics statistics() const {
    wavesmith_statistics counts = WAVESMITH_INIT(wavesmith_statistics);
    EXPECT_TRUE(ok(wavesmith_get_statistics(context, &counts)));
    return counts;
  }
};

TEST_F(Life, AContextTellsItsDevice) {
  wavesmith_context_info info = WAVESMITH_INIT(wavesmith_context_info);
  ASSERT_TRUE(ok(wavesmith_context_get_info(context, &info)));
  EXPECT_STREQ(info.target, "gfx942");
  EXPECT_THAT(info.name, HasSubstr("MI325X"));
  EXPECT_EQ(info.ordinal, 0);
  EXPECT_EQ(info.is_emulator, 1);
  EXPECT_EQ(info.compute_units, 304);
  EXPECT_EQ(info.fp8_format, WAVESMITH_FP8_E4M3_FNUZ);
  EXPECT_STREQ(info.policy, "default");
  EXPECT_THAT(info.library, HasSubstr("emulator"));
}

TEST_F(Life, ARepeatedPlanIsFoundByValue) {
  const wavesmith_plan first = plan(description());
  EXPECT_EQ(statistics().plans, 1u);
  EXPECT_EQ(statistics().plan_hits, 0u);

  // Other arrays of the same lengths are the same value.
  const std::vector<std::int32_t> q(cuQ, cuQ + 3), kv(cuKv, cuKv + 3);
  wavesmith_attention same = description();
  same.cu_seqlens_q = q.data();
  same.cu_seqlens_kv = kv.data();
  const wavesmith_plan second = plan(same);
  EXPECT_NE(first, second) << "each call gives a handle of its own";
  EXPECT_EQ(statistics().plans, 1u);
  EXPECT_EQ(statistics().plan_hits, 1u);

  ASSERT_TRUE(ok(wavesmith_plan_destroy(first)));
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  EXPECT_TRUE(ok(wavesmith_plan_get_info(second, &info))) << "the other handle lives on";
  ASSERT_TRUE(ok(wavesmith_plan_destroy(second)));
}

TEST_F(Life, EveryFieldIsPartOfAPlansValue) {
  std::vector<wavesmith_attention> all(17, description());
  std::int32_t otherQ[] = {0, 299, 320}, otherKv[] = {0, 299, 390};
  all[1].dtype = WAVESMITH_FP8;
  all[2].head_dim_qk = 128;
  all[3].heads = 24;
  all[4].kv_heads = 4;
  all[5].flags = WAVESMITH_LSE;
  all[6].cu_seqlens_q = otherQ;
  all[7].cu_seqlens_kv = otherKv;
  all[8].scale = 0.5;
  all[9].q.row = 4096;
  all[10].out.head = 136;
  all[11].lse_head_stride = 400;
  all[12].splits = 3;
  all[13].scales = WAVESMITH_SCALES_DYNAMIC;
  all[14].path = WAVESMITH_PATH_BF16;
  all[15].scales = WAVESMITH_SCALES_DYNAMIC;
  all[15].path = WAVESMITH_PATH_FP8;
  all[16] = all[15];
  all[16].rotation = 7;
  std::vector<wavesmith_plan> plans;
  for (const wavesmith_attention &attention : all)
    plans.push_back(plan(attention));
  EXPECT_EQ(statistics().plans, all.size());
  EXPECT_EQ(statistics().plan_hits, 0u);
  for (const wavesmith_plan each : plans)
    EXPECT_TRUE(ok(wavesmith_plan_destroy(each)));
}

TEST_F(Life, OldPlansGoAndAreMadeAgain) {
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  options.plan_cache_entries = 2;
  wavesmith_context small = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &small)));
  std::swap(context, small);
  for (const int heads : {1, 2, 1, 3, 1, 2}) { // 3 pushes 2 out, 2 pushes 3 out
    wavesmith_attention attention = description();
    attention.heads = heads;
    EXPECT_TRUE(ok(wavesmith_plan_destroy(plan(attention))));
  }
  EXPECT_EQ(statistics().plans, 4u);
  EXPECT_EQ(statistics().plan_hits, 2u);
  std::swap(context, small);
  ASSERT_TRUE(ok(wavesmith_context_destroy(small)));
}

TEST_F(Life, PlansOutliveTheirContext) {
  const Memory memory(kMemoryBytes);
  wavesmith_context other = open(0);
  std::swap(context, other);
  const wavesmith_plan kept = plan(description());
  std::swap(context, other);
  ASSERT_TRUE(ok(wavesmith_context_destroy(other)));
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  EXPECT_TRUE(ok(wavesmith_upload(kept, buffers.workspace, buffers.workspace_bytes, stream)));
  EXPECT_TRUE(ok(wavesmith_launch_attention(kept, &buffers, stream)));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(kept)));
}

TEST_F(Life, AnEmptyBatchIsAPlanThatDoesNothing) {
  wavesmith_attention attention = description();
  attention.batch = 0;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  const wavesmith_plan empty = plan(attention, &info);
  EXPECT_EQ(info.launches, 0u);
  EXPECT_EQ(info.workspace_bytes, 0u);
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  EXPECT_TRUE(ok(wavesmith_upload(empty, nullptr, 0, stream)));
  EXPECT_TRUE(ok(wavesmith_launch_attention(empty, &buffers, stream)));
  EXPECT_EQ(statistics().launches, 0u);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(empty)));
}

TEST_F(Life, ADeferredPlanIsReadyOncePrepared) {
  const Memory memory(kMemoryBytes);
  wavesmith_attention attention = description();
  attention.flags |= WAVESMITH_DEFER;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  const wavesmith_plan deferred = plan(attention, &info);
  EXPECT_EQ(info.ready, 0);
  EXPECT_GT(info.workspace_bytes, 0u);
  EXPECT_EQ(statistics().compiles, 0u);
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  EXPECT_TRUE(invalid(wavesmith_upload(deferred, buffers.workspace, kWorkspaceBytes, stream),
                      "wavesmith_prepare"));
  EXPECT_TRUE(invalid(wavesmith_launch_attention(deferred, &buffers, stream), "wavesmith_prepare"));

  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.plans = &deferred;
  options.plan_count = 1;
  ASSERT_TRUE(ok(wavesmith_prepare(context, &options)));
  ASSERT_TRUE(ok(wavesmith_plan_get_info(deferred, &info)));
  EXPECT_EQ(info.ready, 1);
  EXPECT_TRUE(ok(wavesmith_upload(deferred, buffers.workspace, kWorkspaceBytes, stream)));
  EXPECT_TRUE(ok(wavesmith_launch_attention(deferred, &buffers, stream)));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(deferred)));
}

TEST_F(Life, PrepareCoversEveryLengthOfACall) {
  wavesmith_attention attention = description();
  const wavesmith_attention *attentions[] = {&attention};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attentions = attentions;
  options.attention_count = 1;
  ASSERT_TRUE(ok(wavesmith_prepare(context, &options)));
  const std::uint64_t compiles = statistics().compiles;
  EXPECT_GE(compiles, 3u) << "with splits, without, and the merge";
  EXPECT_EQ(statistics().kernels_loaded, 3u);
  for (const std::int32_t keys : {1, 300, 100'000}) {
    std::int32_t lengths[] = {0, 0, keys};
    attention.cu_seqlens_kv = lengths;
    for (const std::int32_t splits : {0, 1, 4}) {
      attention.splits = splits;
      EXPECT_TRUE(ok(wavesmith_plan_destroy(plan(attention))));
    }
  }
  EXPECT_EQ(statistics().compiles, compiles);
}

TEST_F(Life, PrepareTakesSpecsByName) {
  const char *specs[] = {"merge_states abi=1 target=gfx942 head_dim_v=128 element=bf16"};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.specs = specs;
  options.spec_count = 1;
  ASSERT_TRUE(ok(wavesmith_prepare(context, &options)));
  specs[0] = "merge_states abi=1 target=gfx950 head_dim_v=128 element=bf16";
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "specs[0]", "gfx950", "gfx942"));
  specs[0] = "attention of some kind";
  EXPECT_TRUE(invalid(wavesmith_prepare(context, &options), "specs[0]"));
}

struct Watcher {
  std::uint32_t calls = 0, total = 0, done = 0, cancelAt = ~0u;
  std::thread::id thread = std::this_thread::get_id();
  static std::int32_t watch(void *user, const wavesmith_progress *progress) {
    auto &self = *static_cast<Watcher *>(user);
    EXPECT_EQ(std::this_thread::get_id(), self.thread);
    EXPECT_GE(progress->done, self.done);
    ++self.calls;
    self.total = progress->total;
    self.done = progress->done;
    return progress->done >= self.cancelAt;
  }
};

TEST_F(Life, NothingIsBegunBeforeTheFirstReport) {
  const wavesmith_attention attention = description();
  const wavesmith_attention *attentions[] = {&attention};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attentions = attentions;
  options.attention_count = 1;
  options.progress = [](void *, const wavesmith_progress *) -> std::int32_t {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return 1;
  };
  EXPECT_TRUE(refused(wavesmith_prepare(context, &options), WAVESMITH_CANCELLED, "0 of 3"));
  EXPECT_EQ(statistics().kernels_loaded, 0u);
}

TEST_F(Life, ContextsShareKernelsOnlyOnTheSameTerms) {
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan(description()))));
  setenv("WAVESMITH_VERIFY", "emulator", 1);
  setenv("WAVESMITH_VERIFIER", "/no/such", 1);
  const wavesmith_context strict = open(0);
  unsetenv("WAVESMITH_VERIFY");
  unsetenv("WAVESMITH_VERIFIER");
  const wavesmith_attention attention = description();
  wavesmith_plan made = nullptr;
  EXPECT_TRUE(refused(wavesmith_plan_attention(strict, &attention, &made, nullptr),
                      WAVESMITH_UNSUPPORTED, "/no/such"));
  ASSERT_TRUE(ok(wavesmith_context_destroy(strict)));
}

TEST_F(Life, APathNeedNotBeUtf8) {
  const std::string path = ::testing::TempDir() + "wavesmith-p\xff.json";
  std::ofstream(path) << R"({"schema": "wavesmith-policy-1", "name": "own", "rules": [)"
                      << R"({"name": "all", "path": "bf16", "reason": "it is"}]})";
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  options.policy = path.c_str();
  wavesmith_context own = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &own)));
  const wavesmith_attention attention = description();
  wavesmith_plan made = nullptr;
  ASSERT_TRUE(ok(wavesmith_plan_attention(own, &attention, &made, nullptr)));
  const char *json = nullptr;
  EXPECT_TRUE(ok(wavesmith_plan_explain(made, &json)));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(made)));
  ASSERT_TRUE(ok(wavesmith_context_destroy(own)));
  std::remove(path.c_str());
}

TEST_F(Life, PrepareReportsAndCanBeCancelled) {
  std::vector<wavesmith_attention> kinds(4, description());
  kinds[1].flags = 0;
  kinds[2].flags = WAVESMITH_CAUSAL;
  kinds[3].flags = WAVESMITH_LSE;
  std::vector<const wavesmith_attention *> attentions;
  for (wavesmith_attention &kind : kinds) {
    kind.head_dim_qk = 128; // by no other test of this process
    attentions.push_back(&kind);
  }
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attentions = attentions.data();
  options.attention_count = attentions.size();
  options.progress = Watcher::watch;
  options.threads = 2;

  Watcher watcher;
  watcher.cancelAt = 0;
  options.user = &watcher;
  EXPECT_TRUE(refused(wavesmith_prepare(context, &options), WAVESMITH_CANCELLED, "of 10 kernels"));
  EXPECT_EQ(watcher.calls, 1u);

  watcher = {};
  options.user = &watcher;
  ASSERT_TRUE(ok(wavesmith_prepare(context, &options)));
  EXPECT_EQ(watcher.total, 10u) << "four kinds with splits and without, two merges";
  EXPECT_EQ(watcher.done, 10u);
  EXPECT_GE(watcher.calls, 2u);
}

TEST_F(Life, PrepareEndsWithTheFirstError) {
  wavesmith_attention attention = description();
  attention.head_dim_qk = attention.head_dim_v = 64; // which the compiler of these tests refuses
  const wavesmith_attention *attentions[] = {&attention};
  wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
  options.attentions = attentions;
  options.attention_count = 1;
  options.threads = 1; // several would fail at once
  EXPECT_TRUE(
      refused(wavesmith_prepare(context, &options), WAVESMITH_COMPILE_FAILED, "says the test"));
  wavesmith_plan made = nullptr;
  EXPECT_TRUE(refused(wavesmith_plan_attention(context, &attention, &made, nullptr),
                      WAVESMITH_COMPILE_FAILED, "says the test"));
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(statistics().failures, 2u);
}

TEST_F(Life, WithoutJitAMissNamesTheKernel) {
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  options.jit = WAVESMITH_JIT_FORBID;
  options.bundles = "/no/such/bundle";
  wavesmith_context strict = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &strict)));
  const wavesmith_attention attention = description();
  wavesmith_plan made = nullptr;
  EXPECT_TRUE(refused(wavesmith_plan_attention(strict, &attention, &made, nullptr),
                      WAVESMITH_JIT_FORBIDDEN, "attention abi=", "key", "/no/such/bundle"));
  ASSERT_TRUE(ok(wavesmith_context_destroy(strict)));
}

TEST_F(Life, ExplainIsJson) {
  const wavesmith_plan explained = plan(description());
  const char *text = nullptr;
  ASSERT_TRUE(ok(wavesmith_plan_explain(explained, &text)));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("path"), "bf16");
  EXPECT_EQ(json.at("target"), "gfx942");
  EXPECT_EQ(json.at("sequences")[0].at("values").at("head_dim"), "192x128");
  EXPECT_EQ(json.at("policy").at("name"), "default");
  EXPECT_EQ(json.at("sequences").size(), 2u) << "one for each pair of lengths";
  EXPECT_EQ(json.at("sequences")[1].at("sequences"), nlohmann::json::array({1}));
  EXPECT_EQ(json.at("sequences")[1].at("values").at("context_len"), 70);
  ASSERT_FALSE(json.at("kernels").empty());
  EXPECT_EQ(json.at("kernels")[0].at("key").get<std::string>().size(), 64u);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(explained)));
}

TEST_F(Life, TheCallersDeviceStaysCurrent) {
  const wavesmith_context second = open(1);
  for (const int current : {0, 1}) {
    ASSERT_EQ(hipSetDevice(current), hipSuccess);
    for (const wavesmith_context each : {context, second}) {
      const wavesmith_attention attention = description();
      wavesmith_plan made = nullptr;
      ASSERT_TRUE(ok(wavesmith_plan_attention(each, &attention, &made, nullptr)));
      const Memory memory(kMemoryBytes);
      const wavesmith_attention_buffers buffers = buffersAt(memory);
      EXPECT_TRUE(ok(wavesmith_upload(made, buffers.workspace, kWorkspaceBytes, nullptr)));
      EXPECT_TRUE(ok(wavesmith_launch_attention(made, &buffers, nullptr)));
      EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
      int now = -1;
      ASSERT_EQ(hipGetDevice(&now), hipSuccess);
      EXPECT_EQ(now, current);
      ASSERT_TRUE(ok(wavesmith_plan_destroy(made)));
    }
  }
  ASSERT_TRUE(ok(wavesmith_context_destroy(second)));
}

TEST_F(Life, LogLinesGoWhereTheyAreSent) {
  struct Lines {
    std::vector<std::string> lines;
  } seen;
  ASSERT_TRUE(ok(wavesmith_set_log(
      [](void *user, std::int32_t level, const char *line) {
        EXPECT_EQ(level, WAVESMITH_LOG_WARN);
        static_cast<Lines *>(user)->lines.emplace_back(line);
      },
      &seen)));
  // A directory that others may write is refused with a warning when it is used.
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_EMULATOR;
  options.cache_directory = "/dev/null/cache";
  wavesmith_context uncached = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &uncached)));
  const wavesmith_attention attention = description();
  wavesmith_plan made = nullptr;
  EXPECT_TRUE(ok(wavesmith_plan_attention(uncached, &attention, &made, nullptr)));
  ASSERT_TRUE(ok(wavesmith_set_log(nullptr, nullptr)));
  ASSERT_FALSE(seen.lines.empty());
  EXPECT_THAT(seen.lines.front(), HasSubstr("/dev/null/cache"));
  EXPECT_TRUE(ok(wavesmith_plan_destroy(made)));
  ASSERT_TRUE(ok(wavesmith_context_destroy(uncached)));
}

} // namespace
} // namespace wavesmith::test
