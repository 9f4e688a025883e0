// A launch allocates nothing. This program's own malloc counts, for all libraries of the process;
// HIP is one that does nothing, so every allocation would be Wavesmith's.

#include <atomic>
#include <cstdlib>

#include "tests/capi/CapiFixture.h"

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};
void count() {
  if (counting.load(std::memory_order_relaxed))
    ++allocations;
}
} // namespace

#define EXPORTED __attribute__((visibility("default"))) // or libraries do not see them

extern "C" {
void *__libc_malloc(std::size_t bytes);
void *__libc_calloc(std::size_t number, std::size_t bytes);
void *__libc_realloc(void *former, std::size_t bytes);
void *__libc_memalign(std::size_t alignment, std::size_t bytes);
EXPORTED void *malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
EXPORTED void *calloc(std::size_t number, std::size_t bytes) {
  count();
  return __libc_calloc(number, bytes);
}
EXPORTED void *realloc(void *former, std::size_t bytes) {
  count();
  return __libc_realloc(former, bytes);
}
EXPORTED void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
}

namespace wavesmith::test {
namespace {

TEST(CapiHeap, LaunchAllocatesNothing) {
  if (const auto missing = assemblerMissing())
    GTEST_SKIP() << *missing;
  setenv("WAVESMITH_CACHE_DIR", "off", 1);
  setenv("WAVESMITH_COMPILER_LIBRARY", WAVESMITH_FAKE_COMPILER, 1);
  setenv("WAVESMITH_HIP_LIBRARY", WAVESMITH_NULL_HIP, 1);
  wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
  options.device = WAVESMITH_DEVICE_HIP;
  wavesmith_context context = nullptr;
  ASSERT_TRUE(ok(wavesmith_context_create(&options, &context)));

  const std::int32_t lengths[] = {0, 300, 320, 700};
  wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
  attention.dtype = WAVESMITH_FP8;
  attention.head_dim_qk = 192;
  attention.head_dim_v = 128;
  attention.heads = 12;
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  attention.batch = 3;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = lengths;
  attention.splits = 3; // the merge too
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &info)));
  ASSERT_EQ(info.launches, 2u);

  alignas(256) static char memory[16 << 20];
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = buffers.k = buffers.v = memory;
  buffers.out = memory;
  buffers.lse = reinterpret_cast<float *>(memory);
  buffers.descale_q = buffers.descale_k = buffers.descale_v = buffers.lse;
  buffers.workspace = memory;
  buffers.workspace_bytes = sizeof memory;
  void *const stream = reinterpret_cast<void *>(0x10);

  counting = true;
  int *volatile counted = new int; // volatile, or the compiler leaves it out
  delete counted;
  EXPECT_GE(allocations.exchange(0), 1);
  const wavesmith_status uploaded =
      wavesmith_upload(plan, buffers.workspace, buffers.workspace_bytes, stream);
  wavesmith_status launched = WAVESMITH_OK;
  for (int i = 0; i < 100 && launched == WAVESMITH_OK; ++i)
    launched = wavesmith_launch_attention(plan, &buffers, stream);
  counting = false;
  EXPECT_TRUE(ok(uploaded));
  EXPECT_TRUE(ok(launched));
  EXPECT_EQ(allocations, 0);
  EXPECT_TRUE(ok(wavesmith_plan_destroy(plan)));
  EXPECT_TRUE(ok(wavesmith_context_destroy(context)));
}

} // namespace
} // namespace wavesmith::test
