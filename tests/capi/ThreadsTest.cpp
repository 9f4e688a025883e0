// Everything at once from sixteen threads on two devices: for ThreadSanitizer, and for what only
// shows when objects end while they are used.

#include <atomic>
#include <thread>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

class Threads : public CapiTest {
protected:
  /// Each thread plans, uploads, launches, asks and destroys; some share plans and end them under
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
          switch (i % 4) {
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
