// The kernels around attention through the C interface, all around the kernels themselves: plans,
// addresses, refusals. Their results: RowResultsTest.cpp.

#include <cstddef>
#include <limits>
#include <string>

#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

class RowOps : public CapiTest {
protected:
  /// Plans a changed description; the plan is destroyed again.
  template <typename Description, typename Plan, typename Change>
  wavesmith_status with(Description description, Plan plan, Change change) const {
    change(description);
    wavesmith_plan made = nullptr;
    const wavesmith_status status = plan(context, &description, &made, nullptr);
    EXPECT_EQ(made == nullptr, status != WAVESMITH_OK);
    if (made)
      EXPECT_TRUE(ok(wavesmith_plan_destroy(made)));
    return status;
  }
  static wavesmith_merge merge() {
    wavesmith_merge merge = WAVESMITH_INIT(wavesmith_merge);
    merge.element = WAVESMITH_BF16;
    merge.head_dim_v = 128;
    merge.heads = 12;
    merge.tokens = 70;
    return merge;
  }
  static wavesmith_quantize quantize() {
    wavesmith_quantize quantize = WAVESMITH_INIT(wavesmith_quantize);
    quantize.input = WAVESMITH_BF16;
    quantize.head_dim = 192;
    quantize.heads = 12;
    quantize.tokens = 70;
    return quantize;
  }
  static wavesmith_quantize parts() {
    wavesmith_quantize parts = quantize();
    parts.input = WAVESMITH_F16;
    parts.flags = WAVESMITH_IN_PARTS | WAVESMITH_SHARED_ROPE;
    return parts;
  }
  static wavesmith_amax amax() {
    wavesmith_amax amax = WAVESMITH_INIT(wavesmith_amax);
    amax.input = WAVESMITH_F32;
    amax.head_dim = 128;
    amax.heads = 12;
    amax.tokens = 70;
    return amax;
  }
  wavesmith_combine combine() const {
    wavesmith_combine combine = WAVESMITH_INIT(wavesmith_combine);
    combine.head_dim_v = 128;
    combine.heads = 2;
    combine.flags = WAVESMITH_LSE;
    combine.slots = 5;
    combine.tokens = 300;
    combine.blocks = blocks;
    combine.block_count = 3;
    return combine;
  }
  const wavesmith_combine_block blocks[3] = {
      {0, 256, 0, 0, 3, {}}, {256, 44, 0, 3, 2, {}}, {0, 100, 1, 0, 0, {}}};
};

TEST_F(RowOps, EachIsPlannedAndLaunched) {
  const Memory memory(kMemoryBytes);
  auto *const values = reinterpret_cast<float *>(memory.at(0x9000));
  auto *const counts = reinterpret_cast<std::uint64_t *>(memory.at(0xa000));
  const wavesmith_merge merging = merge();
  const wavesmith_quantize quantizing = quantize();
  const wavesmith_quantize joining = parts();
  const wavesmith_amax measuring = amax();
  const wavesmith_combine combining = combine();
  wavesmith_plan plans[5] = {};
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_merge(context, &merging, &plans[0], &info)));
  EXPECT_EQ(info.path, WAVESMITH_PATH_ROWS);
  EXPECT_EQ(info.launches, 1u);
  EXPECT_EQ(info.workspace_bytes, 0u);
  EXPECT_EQ(info.ready, 1);
  ASSERT_TRUE(ok(wavesmith_plan_quantize(context, &quantizing, &plans[1], nullptr)));
  ASSERT_TRUE(ok(wavesmith_plan_quantize(context, &joining, &plans[2], nullptr)));
  ASSERT_TRUE(ok(wavesmith_plan_amax(context, &measuring, &plans[3], nullptr)));
  ASSERT_TRUE(ok(wavesmith_plan_combine(context, &combining, &plans[4], &info)));
  EXPECT_EQ(info.workspace_bytes, 256u) << "three blocks of 32 bytes";

  wavesmith_merge_buffers m = WAVESMITH_INIT(wavesmith_merge_buffers);
  m.a = m.b = m.out = memory.get();
  m.lse_a = m.lse_b = m.lse = values;
  EXPECT_TRUE(ok(wavesmith_launch_merge(plans[0], &m, stream)));
  wavesmith_quantize_buffers q = WAVESMITH_INIT(wavesmith_quantize_buffers);
  q.x = q.y = memory.get();
  q.descale = values;
  q.saturated = counts;
  EXPECT_TRUE(ok(wavesmith_launch_quantize(plans[1], &q, stream)));
  wavesmith_quantize_buffers c = WAVESMITH_INIT(wavesmith_quantize_buffers);
  c.x = c.rope = c.y = memory.get();
  c.descale = values;
  c.saturated = counts;
  EXPECT_TRUE(ok(wavesmith_launch_quantize(plans[2], &c, stream)));
  wavesmith_amax_buffers a = WAVESMITH_INIT(wavesmith_amax_buffers);
  a.x = memory.get();
  a.amax = values;
  EXPECT_TRUE(ok(wavesmith_launch_amax(plans[3], &a, stream)));
  wavesmith_combine_buffers b = WAVESMITH_INIT(wavesmith_combine_buffers);
  b.partial_out = b.partial_lse = values;
  b.out = memory.get();
  b.lse = values;
  b.workspace = memory.at(kWorkspaceAt);
  b.workspace_bytes = 256;
  EXPECT_TRUE(invalid(wavesmith_launch_combine(plans[4], &b, stream), "no work lists"));
  ASSERT_TRUE(ok(wavesmith_upload(plans[4], b.workspace, b.workspace_bytes, stream)));
  EXPECT_TRUE(ok(wavesmith_launch_combine(plans[4], &b, stream)));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);

  // Each message has the names of this call.
  m.lse_b = nullptr;
  EXPECT_TRUE(invalid(wavesmith_launch_merge(plans[0], &m, stream), "lse_b is null"));
  q.saturated = reinterpret_cast<std::uint64_t *>(memory.at(0xa004));
  EXPECT_TRUE(invalid(wavesmith_launch_quantize(plans[1], &q, stream), "saturated is at", "8 b"));
  c.rope = memory.at(8);
  EXPECT_TRUE(invalid(wavesmith_launch_quantize(plans[2], &c, stream), "rope is at"));
  a.amax = nullptr;
  EXPECT_TRUE(invalid(wavesmith_launch_amax(plans[3], &a, stream), "amax is null"));
  b.lse = nullptr;
  EXPECT_TRUE(invalid(wavesmith_launch_combine(plans[4], &b, stream), "lse is null"));
  b.workspace_bytes = 255;
  b.lse = values;
  EXPECT_TRUE(invalid(wavesmith_launch_combine(plans[4], &b, stream), "needs 256"));
  // A plan of one kind with the launch of another.
  EXPECT_TRUE(invalid(wavesmith_launch_amax(plans[0], &a, stream), "merge_states", "amax"));
  wavesmith_attention_buffers none = WAVESMITH_INIT(wavesmith_attention_buffers);
  EXPECT_TRUE(invalid(wavesmith_launch_attention(plans[0], &none, stream), "merge_states"));
  for (const wavesmith_plan each : plans)
    EXPECT_TRUE(ok(wavesmith_plan_destroy(each)));
}

TEST_F(RowOps, MaximaAreNeededWhereDescalesAreMade) {
  const Memory memory(kMemoryBytes);
  wavesmith_quantize dynamic = quantize();
  dynamic.flags = WAVESMITH_DYNAMIC;
  wavesmith_plan plan = nullptr;
  ASSERT_TRUE(ok(wavesmith_plan_quantize(context, &dynamic, &plan, nullptr)));
  wavesmith_quantize_buffers q = WAVESMITH_INIT(wavesmith_quantize_buffers);
  q.x = q.y = memory.get();
  q.descale = reinterpret_cast<float *>(memory.get());
  q.saturated = reinterpret_cast<std::uint64_t *>(memory.get());
  EXPECT_TRUE(invalid(wavesmith_launch_quantize(plan, &q, stream), "amax is null"));
  q.amax = q.descale;
  EXPECT_TRUE(ok(wavesmith_launch_quantize(plan, &q, stream)));
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_TRUE(ok(wavesmith_plan_destroy(plan)));
}

TEST_F(RowOps, NoTokensAreNothingToDo) {
  wavesmith_merge none = merge();
  none.tokens = 0;
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_merge(context, &none, &plan, &info)));
  EXPECT_EQ(info.launches, 0u);
  const wavesmith_merge_buffers buffers = WAVESMITH_INIT(wavesmith_merge_buffers);
  EXPECT_TRUE(ok(wavesmith_launch_merge(plan, &buffers, stream)));
  EXPECT_TRUE(ok(wavesmith_plan_destroy(plan)));
}

TEST_F(RowOps, WhatProgramsLeaveOutOfACombineIsBf16) {
  const auto specOf = [&](const wavesmith_combine &description) {
    wavesmith_plan plan = nullptr;
    EXPECT_TRUE(ok(wavesmith_plan_combine(context, &description, &plan, nullptr)));
    const char *json = "";
    EXPECT_TRUE(ok(wavesmith_plan_explain(plan, &json)));
    const std::string text = json;
    EXPECT_TRUE(ok(wavesmith_plan_destroy(plan)));
    return text;
  };
  wavesmith_combine description = combine();
  description.element = WAVESMITH_F16;
  EXPECT_NE(specOf(description).find("output=f16"), std::string::npos);
  description.size = offsetof(wavesmith_combine, element); // of older headers
  EXPECT_NE(specOf(description).find("output=bf16"), std::string::npos);
}

TEST_F(RowOps, WrongDescriptionsAreRefused) {
  const auto big = std::numeric_limits<std::int64_t>::max();
  const auto merging = [&](auto change) { return with(merge(), wavesmith_plan_merge, change); };
  EXPECT_TRUE(invalid(merging([](auto &m) { m.size = 8; }), "merge.size is 8"));
  EXPECT_TRUE(ok(merging([](auto &m) { m.element = WAVESMITH_F16; })));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.element = WAVESMITH_FP8; }), "element is 2",
                      "1 (bf16), 3 (f16) or 4 (f32)"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.head_dim_v = 192; }), "64, 128, 256"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.heads = 0; }), "heads is 0"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.tokens = -1; }), "tokens is -1"));
  EXPECT_TRUE(invalid(merging([&](auto &m) { m.tokens = big; }), "tokens is"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.flags = 1; }), "flags are 0x1"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.tokens_with_a = 71; }), "tokens_with_a is 71"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.a.row = 3; }), "a row stride is 3"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.out.row = 8; }), "out rows overlap"));
  EXPECT_TRUE(invalid(merging([&](auto &m) { m.b.head = big - 7; }), "b head stride"));
  EXPECT_TRUE(invalid(merging([&](auto &m) {
                        m.heads = 1;
                        m.a.row = 128;
                        m.a.head = big - 7;
                      }),
                      "a reaches"));
  EXPECT_TRUE(invalid(merging([](auto &m) { m.lse_b_head_stride = 69; }), "lse_b_head_stride"));
  EXPECT_TRUE(invalid(merging([&](auto &m) { m.lse_head_stride = big; }), "lse_head_stride"));

  const auto quantizing = [&](auto change) {
    return with(quantize(), wavesmith_plan_quantize, change);
  };
  EXPECT_TRUE(invalid(quantizing([](auto &q) { q.input = WAVESMITH_FP8; }), "input is 2"));
  EXPECT_TRUE(invalid(quantizing([](auto &q) { q.head_dim = 96; }), "64, 128, 192, 256"));
  EXPECT_TRUE(invalid(quantizing([](auto &q) { q.rotation = 1u << 31; }), "rotation is"));
  EXPECT_TRUE(invalid(quantizing([](auto &q) { q.flags = WAVESMITH_SHARED_ROPE; }), "IN_PARTS"));
  EXPECT_TRUE(invalid(quantizing([](auto &q) { q.reserved = 1; }), "reserved is 1"));
  EXPECT_TRUE(invalid(quantizing([](auto &q) { q.y.row = 16; }), "y rows overlap"));

  const auto joining = [&](auto change) { return with(parts(), wavesmith_plan_quantize, change); };
  EXPECT_TRUE(invalid(joining([](auto &q) { q.rope.head = 64; }), "rope head stride is 64"));
  EXPECT_TRUE(invalid(joining([](auto &q) { q.x.row = -8; }), "x row stride is -8"));
  EXPECT_TRUE(invalid(joining([](auto &q) { q.heads = 500; }), "heads is 500"));
  EXPECT_TRUE(invalid(joining([](auto &q) { q.head_dim = 128; }), "head_dim is 128", "128 + 64"));

  const auto measuring = [&](auto change) { return with(amax(), wavesmith_plan_amax, change); };
  EXPECT_TRUE(invalid(measuring([](auto &a) { a.first_column = 5; }), "first_column", "0, 128"));
  EXPECT_TRUE(invalid(measuring([](auto &a) { a.flags = WAVESMITH_DYNAMIC; }), "flags are 0x1"));

  std::vector<wavesmith_combine_block> changed;
  const auto combining = [&](auto change) {
    changed.assign(blocks, blocks + 3);
    wavesmith_combine description = combine();
    description.blocks = changed.data();
    return with(description, wavesmith_plan_combine, [&](auto &c) { change(c, changed[1]); });
  };
  EXPECT_TRUE(ok(combining([](auto &, auto &) {})));
  EXPECT_TRUE(
      invalid(combining([](auto &, auto &b) { b.rows = 257; }), "blocks[1]", "rows is 257"));
  EXPECT_TRUE(invalid(combining([](auto &, auto &b) { b.first_row = 257; }), "of 300 tokens"));
  EXPECT_TRUE(invalid(combining([](auto &, auto &b) { b.head = 2; }), "head is 2 of 2"));
  EXPECT_TRUE(invalid(combining([](auto &, auto &b) { b.first_slot = 4; }), "slots 4 to 5 of 5"));
  EXPECT_TRUE(invalid(combining([](auto &, auto &b) { b.slots = -1; }), "slots"));
  EXPECT_TRUE(invalid(combining([](auto &, auto &b) { b.reserved[2] = 9; }), "reserved is 9"));
  EXPECT_TRUE(invalid(combining([](auto &c, auto &) { c.blocks = nullptr; }), "blocks is null"));
  EXPECT_TRUE(invalid(combining([](auto &c, auto &) { c.block_count = 1u << 30; }), "block_count"));
  EXPECT_TRUE(invalid(combining([](auto &c, auto &) { c.slots = -4; }), "slots is -4"));
  for (const std::int32_t element : {0, int{WAVESMITH_BF16}, int{WAVESMITH_F16}})
    EXPECT_TRUE(ok(combining([&](auto &c, auto &) { c.element = element; })));
  EXPECT_TRUE(invalid(combining([](auto &c, auto &) { c.element = WAVESMITH_F32; }), "element is 4",
                      "0 or 1 (bf16), or 3 (f16)"));
  EXPECT_TRUE(invalid(combining([](auto &c, auto &) { c.reserved = 1; }), "reserved is 1"));
}

} // namespace
} // namespace wavesmith::test
