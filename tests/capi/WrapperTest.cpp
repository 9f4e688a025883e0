// wavesmith.hpp: handles end once, errors are exceptions with the sentence, nothing leaks through
// C.

#include "include/wavesmith/wavesmith.hpp"

#include <type_traits>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

using testing::HasSubstr;

class Wrapper : public CapiTest {
protected:
  static wavesmith_context_options onEmulator() {
    auto options = WAVESMITH_INIT(wavesmith_context_options);
    options.device = WAVESMITH_DEVICE_EMULATOR;
    return options;
  }
};

static_assert(!std::is_copy_constructible_v<Plan> && !std::is_copy_constructible_v<Context>);
static_assert(std::is_nothrow_move_constructible_v<Plan>);

TEST_F(Wrapper, RunsAPlan) {
  const Context device(onEmulator());
  EXPECT_STREQ(device.info().target, "gfx942");
  const Memory memory(kMemoryBytes);
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  {
    const Plan plan = device.plan(description());
    EXPECT_GT(plan.info().workspace_bytes, 0u);
    EXPECT_THAT(plan.explain(), HasSubstr("\"path\":\"bf16\""));
    plan.upload(buffers.workspace, buffers.workspace_bytes, stream);
    plan.launch(buffers, stream);
    EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  }
  EXPECT_EQ(device.statistics().launches, 1u);
}

TEST_F(Wrapper, HandlesEndOnceWhereverTheyMove) {
  const Context device(onEmulator());
  wavesmith_plan handle = nullptr;
  {
    Plan first = device.plan(description());
    handle = first.get();
    Plan second(std::move(first));
    EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move): empty is what it promises
    Plan third;
    third = std::move(second);
    EXPECT_EQ(third.get(), handle);
    wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
    EXPECT_TRUE(ok(wavesmith_plan_get_info(handle, &info)));
  }
  EXPECT_TRUE(invalid(wavesmith_plan_destroy(handle), "was destroyed"));
}

TEST_F(Wrapper, ErrorsAreExceptions) {
  const Context device(onEmulator());
  wavesmith_attention attention = description();
  attention.heads = 1000;
  try {
    (void)device.plan(attention);
    FAIL() << "heads is 1000";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), WAVESMITH_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr("heads is 1000"));
  }
  const Plan empty;
  EXPECT_THROW((void)empty.info(), Error);
  auto options = onEmulator();
  options.ordinal = 77;
  EXPECT_THROW(Context wrong(options), Error);
}

TEST_F(Wrapper, RowKernelsAreOverloads) {
  const Context device(onEmulator());
  const Memory memory(kMemoryBytes);
  auto merge = WAVESMITH_INIT(wavesmith_merge);
  merge.element = WAVESMITH_F32;
  merge.head_dim_v = 64;
  merge.heads = 3;
  merge.tokens = 10;
  const Plan plan = device.plan(merge);
  auto buffers = WAVESMITH_INIT(wavesmith_merge_buffers);
  buffers.a = buffers.b = buffers.out = memory.get();
  buffers.lse_a = buffers.lse_b = buffers.lse = reinterpret_cast<float *>(memory.at(0x8000));
  plan.launch(buffers, stream);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_THROW(plan.launch(WAVESMITH_INIT(wavesmith_amax_buffers), stream), Error);
}

TEST_F(Wrapper, RunsAPass) {
  const Context device(onEmulator());
  const Memory memory(kMemoryBytes);
  wavesmith_attention attention = description();
  attention.splits = 1;
  const std::int32_t cached[] = {0, 64, 128};
  const Pass pass = device.begin(attention, {cached, cached});
  EXPECT_EQ(pass.info().segments, 2u);
  const wavesmith_attention_buffers buffers = buffersAt(memory);
  pass.upload(buffers.workspace, buffers.workspace_bytes, stream);
  pass.segment(0, buffers, stream);
  pass.segment(1, buffers, stream);
  pass.finish(buffers, stream);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_THROW(pass.segment(2, buffers, stream), Error);
  attention.flags = 0;
  EXPECT_THROW((void)device.begin(attention, {}), Error);
}

TEST_F(Wrapper, PrepareReportsCancelsAndPassesExceptionsOn) {
  const Context device(onEmulator());
  std::vector<wavesmith_attention> kinds(2, description());
  kinds[1].flags = 0;
  kinds[0].kv_heads = 4;
  unsigned calls = 0;
  device.prepare(kinds, [&](const wavesmith_progress &progress) {
    ++calls;
    EXPECT_LE(progress.done, progress.total);
    return true;
  });
  EXPECT_GE(calls, 2u);
  device.prepare(kinds);

  const Context fresh(onEmulator());
  kinds[0].head_dim_qk = kinds[0].head_dim_v = 64; // which the tests' compiler refuses
  EXPECT_THROW(fresh.prepare(kinds), Error);
  struct Mine {};
  EXPECT_THROW(fresh.prepare(kinds, [](const wavesmith_progress &) -> bool { throw Mine(); }),
               Mine);
  try {
    kinds[0] = description();
    kinds[0].head_dim_qk = 128;
    kinds[0].flags = WAVESMITH_CAUSAL;
    fresh.prepare(kinds, [](const wavesmith_progress &) { return false; });
    FAIL() << "it was cancelled";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), WAVESMITH_CANCELLED);
  }
}

} // namespace
} // namespace wavesmith::test
