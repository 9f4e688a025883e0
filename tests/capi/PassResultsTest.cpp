// Chunked prefill as engines do it: a prompt in chunks, each over the cached ones in segments,
// against the prompt in one call and against float64.

#include <array>
#include <cmath>
#include <memory>

#include "runtime/verify/Float8.h"
#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

constexpr int kTokens = 700, kChunk = 256, kSegment = 150;
constexpr std::size_t kRow = std::size_t{kHeads} * kDim;

struct Precision {
  const char *name;
  DType dtype;
  std::int32_t path, scales;
  /// Of a row's error, by Part::size, and of its lse. BF16 and F16 as in docs/testing.md. FP8 of
  /// inputs that are e4m3 already: only the weights are rounded, docs/testing.md for few keys.
  /// Otherwise q, k, v and the weights are, each by 2.6e-2 in the mean of squares and independently
  /// of each other: four times 5.2e-2; a score is off by 3.7e-2 of its size, and so is the lse of
  /// few keys.
  double out, lse;
  friend void PrintTo(const Precision &precision, std::ostream *out) { *out << precision.name; }
};

class ChunkedPrompt : public Results, public testing::WithParamInterface<Precision> {
protected:
  ChunkedPrompt()
      : q(draw8()), k(draw8()), v(draw8()), descales(std::vector<float>(kHeads, 0.5f)) {}

  /// Numbers of e4m3fnuz in the type of the inputs, also after halving or doubling.
  std::vector<std::uint16_t> draw8() {
    std::vector<std::uint16_t> values(kTokens * kRow);
    for (std::uint16_t &value : values)
      value = doubleToElement(
          GetParam().dtype,
          fp8ToDouble(Fp8Format::E4M3Fnuz, doubleToFp8(Fp8Format::E4M3Fnuz, double{draw()})));
    return values;
  }
  wavesmith_attention describe(const std::int32_t *offsets) const {
    wavesmith_attention attention = causal(offsets, 1);
    attention.dtype = GetParam().dtype == DType::F16 ? WAVESMITH_F16 : WAVESMITH_BF16;
    attention.path = GetParam().path;
    attention.scales = GetParam().scales;
    return attention;
  }
  wavesmith_attention_buffers buffersAt(std::int32_t token, void *out, float *lse) const {
    wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
    buffers.q = q.get() + static_cast<std::size_t>(token) * kRow;
    buffers.out = static_cast<std::uint16_t *>(out) + static_cast<std::size_t>(token) * kRow;
    buffers.lse = lse;
    buffers.descale_q = buffers.descale_k = buffers.descale_v = descales.get();
    return buffers;
  }
  void keysAt(std::int32_t token, wavesmith_attention_buffers &buffers) const {
    buffers.k = k.get() + static_cast<std::size_t>(token) * kRow;
    buffers.v = v.get() + static_cast<std::size_t>(token) * kRow;
  }

  const Array<std::uint16_t> q, k, v;
  const Array<float> descales;
};

TEST_P(ChunkedPrompt, IsThePromptInOneCall) {
  const Array out(zeros<std::uint16_t>(kTokens * kRow)),
      chunked(zeros<std::uint16_t>(kTokens * kRow));
  const Array lse(zeros<float>(kTokens * kHeads));
  const std::int32_t all[] = {0, kTokens};
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  const wavesmith_attention whole = describe(all);
  ASSERT_TRUE(ok(wavesmith_plan_attention(context, &whole, &plan, &info)));
  {
    const Memory workspace(info.workspace_bytes + 1);
    wavesmith_attention_buffers buffers = buffersAt(0, out.get(), lse.get());
    keysAt(0, buffers);
    buffers.workspace = workspace.get();
    buffers.workspace_bytes = info.workspace_bytes;
    ASSERT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, buffers.workspace_bytes, nullptr)));
    ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, nullptr)));
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  }
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));

  std::vector<float> chunkedLse(kTokens * kHeads);
  int segmentsOfLast = 0;
  for (std::int32_t begin = 0; begin < kTokens; begin += kChunk) {
    const std::int32_t count = std::min(kChunk, kTokens - begin), own[] = {0, count};
    std::vector<std::array<std::int32_t, 2>> offsets;
    for (std::int32_t at = 0; at < begin; at += kSegment)
      offsets.push_back({0, std::min(kSegment, begin - at)});
    std::vector<const std::int32_t *> segments;
    for (const auto &offset : offsets)
      segments.push_back(offset.data());
    segmentsOfLast = static_cast<int>(segments.size());
    const wavesmith_attention attention = describe(own);
    wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
    options.attention = &attention;
    options.segments = segments.data();
    options.segment_count = segments.size();
    wavesmith_pass pass = nullptr;
    wavesmith_pass_info passInfo = WAVESMITH_INIT(wavesmith_pass_info);
    ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, &passInfo)));
    EXPECT_EQ(passInfo.path, GetParam().path);

    const Array chunkLse(zeros<float>(static_cast<std::size_t>(count) * kHeads));
    const Memory workspace(passInfo.workspace_bytes + 1);
    wavesmith_attention_buffers buffers = buffersAt(begin, chunked.get(), chunkLse.get());
    buffers.workspace = workspace.get();
    buffers.workspace_bytes = passInfo.workspace_bytes;
    ASSERT_TRUE(
        ok(wavesmith_pass_upload(pass, buffers.workspace, buffers.workspace_bytes, nullptr)));
    for (std::size_t i = 0; i < segments.size(); ++i) {
      keysAt(static_cast<std::int32_t>(i) * kSegment, buffers);
      ASSERT_TRUE(ok(wavesmith_pass_segment(pass, i, &buffers, nullptr)));
    }
    keysAt(begin, buffers);
    ASSERT_TRUE(ok(wavesmith_pass_finish(pass, &buffers, nullptr)));
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
    const std::vector<float> some = chunkLse.read();
    for (int h = 0; h < kHeads; ++h)
      std::copy_n(some.begin() + h * count, count, chunkedLse.begin() + h * kTokens + begin);
  }
  EXPECT_EQ(segmentsOfLast, 4);

  const DType dtype = GetParam().dtype;
  const std::vector<std::uint16_t> one = out.read(), parts = chunked.read();
  const std::vector<float> oneLse = lse.read();
  std::vector<const std::uint16_t *> keys, values;
  for (int h = 0; h < kHeads; ++h) {
    keys.clear();
    values.clear();
    for (std::size_t i = 0; i < kTokens; ++i) {
      const std::size_t at = i * kRow + static_cast<std::size_t>(h) * kDim;
      keys.push_back(k.host.data() + at);
      values.push_back(v.host.data() + at);
      if (i % 3 != 0 && i > 20) // enough rows
        continue;
      const Part expected = attend(q.host.data() + at, keys, values, dtype);
      double errorOne = 0, errorParts = 0, between = 0;
      for (std::size_t d = 0; d < kDim; ++d) {
        const double a = wide(one[at + d], dtype), b = wide(parts[at + d], dtype),
                     right = expected.out[d];
        errorOne += (a - right) * (a - right);
        errorParts += (b - right) * (b - right);
        between += (a - b) * (a - b);
      }
      // Each segment rounds what has been accumulated, in the mean of squares below these.
      const double limit = GetParam().out,
                   merged = limit + segmentsOfLast * (dtype == DType::F16 ? 0x1p-12 : 0x1p-9);
      ASSERT_LE(std::sqrt(errorOne), limit * expected.size) << "row " << i << " head " << h;
      ASSERT_LE(std::sqrt(errorParts), merged * expected.size) << "row " << i << " head " << h;
      ASSERT_LE(std::sqrt(between), (limit + merged) * expected.size) << "row " << i;
      const double lseLimit = GetParam().lse * std::max(1.0, std::abs(expected.lse));
      const std::size_t lseAt = static_cast<std::size_t>(h) * kTokens + i;
      ASSERT_NEAR(oneLse[lseAt], expected.lse, lseLimit) << "row " << i << " head " << h;
      ASSERT_NEAR(chunkedLse[lseAt], expected.lse, 4 * lseLimit) << "row " << i << " head " << h;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Results, ChunkedPrompt,
    testing::Values(
        Precision{"Bf16", DType::BF16, WAVESMITH_PATH_BF16, WAVESMITH_SCALES_NONE, 8e-3, 1e-5},
        Precision{"F16", DType::F16, WAVESMITH_PATH_BF16, WAVESMITH_SCALES_NONE, 1e-3, 1e-5},
        Precision{"Unit", DType::BF16, WAVESMITH_PATH_FP8, WAVESMITH_SCALES_UNIT, 1.5e-1, 6e-2},
        Precision{"UnitF16", DType::F16, WAVESMITH_PATH_FP8, WAVESMITH_SCALES_UNIT, 1.5e-1, 6e-2},
        Precision{"Static", DType::BF16, WAVESMITH_PATH_FP8, WAVESMITH_SCALES_STATIC, 1.5e-1, 6e-2},
        Precision{"Dynamic", DType::BF16, WAVESMITH_PATH_FP8, WAVESMITH_SCALES_DYNAMIC, 2.1e-1,
                  2e-1},
        Precision{"DynamicF16", DType::F16, WAVESMITH_PATH_FP8, WAVESMITH_SCALES_DYNAMIC, 2.1e-1,
                  2e-1}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace wavesmith::test
