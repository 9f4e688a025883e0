// What comes out of calls through the C interface, with real kernels on the emulator: the context
// pass against float64 over all keys at once, a graph whose lengths the device knows against plans
// of known lengths. Every shape and corner of the kernels themselves: tests/e2e.

#include <cmath>
#include <memory>
#include <numeric>

#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

TEST_F(Results, APassIsAttentionOverAllKeysAtOnce) {
  // Cached keys of each sequence by segment, then its new tokens. The third has no context, the
  // last none in the second segment.
  const std::vector<std::vector<int>> cached = {{64, 100, 0, 7}, {300, 64, 0, 0}, {1, 0, 0, 20}};
  const std::vector<int> fresh = {33, 1, 70, 260};
  const std::size_t batch = fresh.size();
  const auto offsets = [&](const std::vector<int> &lengths) {
    std::vector<std::int32_t> cu{0};
    for (const int length : lengths)
      cu.push_back(cu.back() + length);
    return cu;
  };
  const std::vector<std::int32_t> cuNew = offsets(fresh);
  const auto tokens = static_cast<std::size_t>(cuNew[batch]);
  std::vector<std::vector<std::int32_t>> cuCached;
  std::vector<const std::int32_t *> pointers;
  for (const std::vector<int> &segment : cached)
    cuCached.push_back(offsets(segment));
  for (const std::vector<std::int32_t> &cu : cuCached)
    pointers.push_back(cu.data());

  wavesmith_attention attention = causal(cuNew.data(), batch);
  // Strides of the caller's own for what is accumulated.
  attention.out.head = kDim + 8;
  attention.out.row = kHeads * (kDim + 8) + 16;
  attention.lse_head_stride = static_cast<std::int64_t>(tokens) + 3;
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.attention = &attention;
  options.segments = pointers.data();
  options.segment_count = pointers.size();
  wavesmith_pass pass = nullptr;
  wavesmith_pass_info info = WAVESMITH_INIT(wavesmith_pass_info);
  ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, &info)));
  EXPECT_EQ(info.segments, 3u);
  EXPECT_GE(info.launches, 7u) << "four attentions, three merges";

  const Array q(drawBf16(tokens * kHeads * kDim));
  std::vector<std::unique_ptr<Array<std::uint16_t>>> keys, values;
  for (const auto &cu : {cuCached[0], cuCached[1], cuCached[2], cuNew})
    for (auto *list : {&keys, &values})
      list->push_back(std::make_unique<Array<std::uint16_t>>(
          drawBf16(static_cast<std::size_t>(cu[batch]) * kHeads * kDim)));
  const Array out(std::vector<std::uint16_t>(tokens * attention.out.row, 0xa5a5));
  const Array lse(std::vector<float>(kHeads * attention.lse_head_stride, 5.0f));
  const Memory workspace(info.workspace_bytes);
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = q.get();
  buffers.out = out.get();
  buffers.lse = lse.get();
  buffers.workspace = workspace.get();
  buffers.workspace_bytes = info.workspace_bytes;
  ASSERT_TRUE(ok(wavesmith_pass_upload(pass, workspace.get(), info.workspace_bytes, nullptr)));
  for (int layer = 0; layer < 2; ++layer) { // the second over what the first has left
    for (std::size_t i = 0; i < cached.size(); ++i) {
      buffers.k = keys[i]->get();
      buffers.v = values[i]->get();
      ASSERT_TRUE(ok(wavesmith_pass_segment(pass, i, &buffers, nullptr)));
    }
    buffers.k = keys[3]->get();
    buffers.v = values[3]->get();
    ASSERT_TRUE(ok(wavesmith_pass_finish(pass, &buffers, nullptr)));
  }
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);

  const std::vector<std::uint16_t> gotOut = out.read();
  const std::vector<float> gotLse = lse.read();
  for (std::size_t s = 0; s < batch; ++s)
    for (int i = 0; i < fresh[s]; ++i)
      for (int h = 0; h < kHeads; ++h) {
        const std::size_t row = static_cast<std::size_t>(cuNew[s] + i);
        const std::uint16_t *query = q.host.data() + (row * kHeads + h) * kDim;
        std::vector<const std::uint16_t *> allKeys, allValues;
        double partNorms = 0;
        std::vector<Part> parts;
        for (std::size_t segment = 0; segment <= cached.size(); ++segment) {
          const bool last = segment == cached.size();
          const std::int32_t first = last ? cuNew[s] : cuCached[segment][s];
          const int count = last ? i + 1 : cached[segment][s];
          std::vector<const std::uint16_t *> someKeys, someValues;
          for (int j = 0; j < count; ++j) {
            const std::size_t at = static_cast<std::size_t>((first + j) * kHeads + h) * kDim;
            someKeys.push_back(keys[segment]->host.data() + at);
            someValues.push_back(values[segment]->host.data() + at);
          }
          parts.push_back(attend(query, someKeys, someValues));
          allKeys.insert(allKeys.end(), someKeys.begin(), someKeys.end());
          allValues.insert(allValues.end(), someValues.begin(), someValues.end());
        }
        const Part whole = attend(query, allKeys, allValues);
        for (const Part &part : parts)
          partNorms += std::exp(part.lse - whole.lse) * part.norm();
        double error = 0;
        for (int d = 0; d < kDim; ++d) {
          const double got = wide(gotOut[row * attention.out.row + h * attention.out.head + d]);
          error += std::pow(got - whole.out[static_cast<std::size_t>(d)], 2);
        }
        // Each part is off by at most 8e-3 of its norm (docs/testing.md), its weight is exact but
        // for its lse; each of three merges rounds to BF16.
        ASSERT_LE(std::sqrt(error), (8e-3 + 3 * 0x1p-9) * partNorms + 1e-5)
            << "sequence " << s << " row " << i << " head " << h;
        ASSERT_NEAR(gotLse[h * attention.lse_head_stride + row], whole.lse,
                    4e-5 * std::max(1.0, std::abs(whole.lse)));
      }
  EXPECT_EQ(gotOut[kDim], 0xa5a5) << "between heads";
  EXPECT_EQ(gotLse[tokens], 5.0f) << "between heads";
  ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
}

TEST_F(Results, APassWithoutSegmentsIsItsLastPart) {
  const std::int32_t cu[] = {0, 40};
  wavesmith_attention attention = causal(cu, 1);
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.attention = &attention;
  wavesmith_pass pass = nullptr;
  wavesmith_pass_info passInfo = WAVESMITH_INIT(wavesmith_pass_info);
  ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, &passInfo)));
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info planInfo = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &planInfo)));
  EXPECT_EQ(passInfo.launches, planInfo.launches);

  const Array q(drawBf16(40 * kHeads * kDim)), k(drawBf16(40 * kHeads * kDim)),
      v(drawBf16(40 * kHeads * kDim));
  const Array once(zeros<std::uint16_t>(40 * kHeads * kDim)),
      again(zeros<std::uint16_t>(40 * kHeads * kDim));
  const Array lse(zeros<float>(40 * kHeads));
  const Memory workspace(std::max(passInfo.workspace_bytes, planInfo.workspace_bytes));
  wavesmith_attention_buffers buffers =
      buffersOf(q, k, v, once, lse, workspace, passInfo.workspace_bytes);
  ASSERT_TRUE(ok(wavesmith_pass_upload(pass, buffers.workspace, buffers.workspace_bytes, nullptr)));
  ASSERT_TRUE(ok(wavesmith_pass_finish(pass, &buffers, nullptr)));
  EXPECT_TRUE(invalid(wavesmith_pass_segment(pass, 0, &buffers, nullptr), "segment is 0", "has 0"));
  buffers.out = again.get();
  ASSERT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, planInfo.workspace_bytes, nullptr)));
  ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, nullptr)));
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(once.read(), again.read());
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
}

TEST_F(Results, OneGraphServesEveryBatchWithinItsBounds) {
  // Captured with one batch, replayed with others: the lengths are read on the device.
  const std::vector<std::vector<std::int32_t>> batches = {
      {0, 300, 301, 340}, {0, 0, 17, 17}, {0, 256, 300, 310}};
  constexpr std::size_t kMost = 340, kElements = kMost * kHeads * kDim;
  wavesmith_attention attention = causal(nullptr, 3);
  attention.lse_head_stride = kMost;
  attention.lengths = WAVESMITH_LENGTHS_ON_DEVICE;
  attention.max_total_q = attention.max_total_kv = kMost;
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &info)));
  const Array q(drawBf16(kElements)), k(drawBf16(kElements)), v(drawBf16(kElements));
  const Array out(zeros<std::uint16_t>(kElements)), expected(zeros<std::uint16_t>(kElements));
  const Array lse(zeros<float>(kMost * kHeads)), expectedLse(zeros<float>(kMost * kHeads));
  const Array offsets(batches[0]);
  const Memory workspace(std::max<std::size_t>(info.workspace_bytes, 1 << 20));
  wavesmith_attention_buffers buffers =
      buffersOf(q, k, v, out, lse, workspace, info.workspace_bytes);
  EXPECT_TRUE(invalid(wavesmith_launch_attention(plan, &buffers, nullptr), "null"))
      << "the offsets are missing";
  buffers.cu_seqlens_q = buffers.cu_seqlens_kv = offsets.get();

  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, stream)));
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
  ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  for (const std::vector<std::int32_t> &batch : batches) {
    for (const auto *each : {&out, &expected})
      ASSERT_EQ(hipMemset(each->get(), 0, kElements * 2), hipSuccess);
    for (const auto *each : {&lse, &expectedLse})
      ASSERT_EQ(hipMemset(each->get(), 0, kMost * kHeads * sizeof(float)), hipSuccess);
    ASSERT_EQ(hipMemcpy(offsets.get(), batch.data(), batch.size() * 4, hipMemcpyHostToDevice),
              hipSuccess);
    ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);

    wavesmith_attention known = attention;
    known.lengths = WAVESMITH_LENGTHS_ON_HOST;
    known.max_total_q = known.max_total_kv = 0;
    known.cu_seqlens_q = known.cu_seqlens_kv = batch.data();
    known.splits = 1;
    wavesmith_plan other = nullptr;
    wavesmith_plan_info otherInfo = WAVESMITH_INIT(wavesmith_plan_info);
    ASSERT_TRUE(ok(wavesmith_plan_attention(context, &known, &other, &otherInfo)));
    wavesmith_attention_buffers same = buffers;
    same.out = expected.get();
    same.lse = expectedLse.get();
    same.workspace_bytes = 1 << 20;
    ASSERT_TRUE(ok(wavesmith_upload(other, same.workspace, same.workspace_bytes, stream)));
    ASSERT_TRUE(ok(wavesmith_launch_attention(other, &same, stream)));
    ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_plan_destroy(other)));
    EXPECT_EQ(out.read(), expected.read());
    EXPECT_EQ(lse.read(), expectedLse.read());
  }
  ASSERT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
}

} // namespace
} // namespace wavesmith::test
