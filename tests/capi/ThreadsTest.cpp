// Everything at once from sixteen threads on two devices: for ThreadSanitizer, and for what only
// shows when objects end while they are used.

#include <atomic>
#include <thread>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

class Threads : public CapiTest {
protected:
  /// A context pass over one segment, begun, run and ended.
  static void runPass(wavesmith_context with, const wavesmith_attention &attention,
                      const wavesmith_attention_buffers &buffers, hipStream_t stream) {
    const std::int32_t cached[] = {0, 40, 70};
    const std::int32_t *const segments[] = {cached};
    wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
    options.attention = &attention;
    options.segments = segments;
    options.segment_count = 1;
    wavesmith_pass pass = nullptr;
    wavesmith_pass_info info = WAVESMITH_INIT(wavesmith_pass_info);
    ASSERT_TRUE(ok(wavesmith_pass_begin(with, &options, &pass, &info)));
    ASSERT_LE(info.workspace_bytes, buffers.workspace_bytes);
    ASSERT_TRUE(
        ok(wavesmith_pass_upload(pass, buffers.workspace, buffers.workspace_bytes, stream)));
    ASSERT_TRUE(ok(wavesmith_pass_segment(pass, 0, &buffers, stream)));
    ASSERT_TRUE(ok(wavesmith_pass_finish(pass, &buffers, stream)));
    ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
  }
  static void runMerge(wavesmith_context with, const wavesmith_attention_buffers &buffers,
                       hipStream_t stream) {
    wavesmith_merge merge = WAVESMITH_INIT(wavesmith_merge);
    merge.element = WAVESMITH_BF16;
    merge.head_dim_v = 128;
    merge.heads = 2;
    merge.tokens = 5;
    wavesmith_plan plan = nullptr;
    ASSERT_TRUE(ok(wavesmith_plan_merge(with, &merge, &plan, nullptr)));
    wavesmith_merge_buffers rows = WAVESMITH_INIT(wavesmith_merge_buffers);
    rows.a = rows.b = rows.out = buffers.out;
    rows.lse_a = rows.lse_b = rows.lse = buffers.lse;
    ASSERT_TRUE(ok(wavesmith_launch_merge(plan, &rows, stream)));
    ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  }

  /// Each thread plans, uploads, launches, asks, errs and destroys, prepares, runs passes and the
  /// kernels around attention; some share plans and end them under
  /// each other's hands, which gives a status and no more.
  void mix(int threads, int calls) {
    const wavesmith_context second = open(1);
    const wavesmith_context devices[] = {context, second};
    std::atomic<std::uint64_t> shared{0};
    std::atomic<int> launched{0}, gone{0};
    const auto work = [&](int thread) {
      const wavesmith_context mine = devices[thread % 2];
      ASSERT_EQ(hipSetDevice(thread % 2), hipSuccess);
      hipStream_t own = nullptr;
      ASSERT_EQ(hipStreamCreateWithFlags(&own, hipStreamNonBlocking), hipSuccess);
      {
        const Memory memory(kMemoryBytes);
        const wavesmith_attention_buffers buffers = buffersAt(memory);
        for (int i = 0; i < calls; ++i) {
          wavesmith_attention attention = description();
          attention.heads = 1 + (thread * 7 + i) % 5;
          attention.splits = 1 + i % 2;
          wavesmith_plan plan = nullptr;
          ASSERT_TRUE(ok(wavesmith_plan_attention(mine, &attention, &plan, nullptr)));
          ASSERT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, kWorkspaceBytes, own)));
          ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, own)));
          ++launched;
          switch (i % 7) {
          case 0: {
            wavesmith_statistics counts = WAVESMITH_INIT(wavesmith_statistics);
            ASSERT_TRUE(ok(wavesmith_get_statistics(mine, &counts)));
            break;
          }
          case 1: {
            const char *json = nullptr;
            ASSERT_TRUE(ok(wavesmith_plan_explain(plan, &json)));
            break;
          }
          case 2: {
            const auto other = reinterpret_cast<wavesmith_plan>(shared.load());
            wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
            const wavesmith_status status = wavesmith_plan_get_info(other, &info);
            ASSERT_TRUE(status == WAVESMITH_OK || status == WAVESMITH_INVALID_ARGUMENT);
            break;
          }
          case 3:
            runPass(mine, attention, buffers, own);
            break;
          case 4:
            runMerge(mine, buffers, own);
            break;
          case 5: // an error, whose sentence is this thread's
            attention.heads = -1 - thread;
            ASSERT_TRUE(invalid(wavesmith_plan_attention(mine, &attention, &plan, nullptr),
                                ("heads is " + std::to_string(-1 - thread)).c_str()));
            break;
          default: {
            const wavesmith_attention *attentions[] = {&attention};
            wavesmith_prepare_options options = WAVESMITH_INIT(wavesmith_prepare_options);
            options.attentions = attentions;
            options.attention_count = 1;
            options.threads = 1;
            ASSERT_TRUE(ok(wavesmith_prepare(mine, &options)));
          }
          }
          // The copy must have passed before the plan may go.
          ASSERT_EQ(hipStreamSynchronize(own), hipSuccess);
          const std::uint64_t former = shared.exchange(reinterpret_cast<std::uint64_t>(plan));
          if (former) {
            ASSERT_TRUE(ok(wavesmith_plan_destroy(reinterpret_cast<wavesmith_plan>(former))));
            ++gone;
          }
        }
        ASSERT_EQ(hipStreamSynchronize(own), hipSuccess);
      }
      ASSERT_EQ(hipStreamDestroy(own), hipSuccess);
    };
    std::vector<std::jthread> pool;
    for (int thread = 0; thread < threads; ++thread)
      pool.emplace_back(work, thread);
    pool.clear();
    EXPECT_EQ(launched, threads * calls);
    EXPECT_EQ(gone, threads * calls - 1) << "each handle was destroyed once";
    EXPECT_TRUE(ok(wavesmith_plan_destroy(reinterpret_cast<wavesmith_plan>(shared.load()))));
    ASSERT_TRUE(ok(wavesmith_context_destroy(second)));
  }
};

TEST_F(Threads, MixedCalls) { mix(16, 12); }

/// One handle is destroyed by exactly one of many.
TEST_F(Threads, AHandleEndsOnce) {
  for (int round = 0; round < 50; ++round) {
    const wavesmith_plan made = plan(description());
    std::atomic<int> ended{0}, used{0};
    std::vector<std::jthread> pool;
    for (int thread = 0; thread < 8; ++thread)
      pool.emplace_back([&] {
        wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
        used += wavesmith_plan_get_info(made, &info) == WAVESMITH_OK;
        ended += wavesmith_plan_destroy(made) == WAVESMITH_OK;
      });
    pool.clear();
    EXPECT_EQ(ended, 1);
    EXPECT_GE(used, 1) << "the first to ask";
  }
}

class Long : public Threads {};
TEST_F(Long, MixedCallsByTheThousand) { mix(16, 1000); }

} // namespace
} // namespace wavesmith::test
