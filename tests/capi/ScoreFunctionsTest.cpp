// Soft caps, windows and sinks through the C interface, against float64: in one call of each path,
// in a context pass, and where only the device knows the lengths. Every combination of them in the
// kernels: tests/e2e.

#include <cmath>

#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

// The first queries of the last sequence stand before all keys.
constexpr int kSequences = 3;
constexpr std::int32_t kQueries[] = {0, 70, 103, 163}, kKeys[] = {0, 300, 333, 353};
constexpr std::size_t kTokens = 163, kKeyTokens = 353, kRow = std::size_t{kHeads} * kDim;
constexpr double kCap = 2;

class ScoreFunctions : public Results {
protected:
  ScoreFunctions()
      : q(drawBf16(kTokens * kRow)), k(drawBf16(kKeyTokens * kRow)), v(drawBf16(kKeyTokens * kRow)),
        out(zeros<std::uint16_t>(kTokens * kRow)), lse(zeros<float>(kTokens * kHeads)),
        sinks({1.5f, -0.5f}) {}

  static wavesmith_attention scored(std::uint32_t flags, int left = 90, int right = -1) {
    wavesmith_attention attention = causal(kQueries, kSequences);
    attention.cu_seqlens_kv = kKeys;
    attention.soft_cap = kCap;
    attention.flags |= flags;
    if (flags & WAVESMITH_WINDOW) {
      attention.window_left = left;
      attention.window_right = right;
    }
    return attention;
  }
  wavesmith_attention_buffers buffers(const Memory &workspace, std::uint64_t bytes) const {
    wavesmith_attention_buffers buffers = buffersOf(q, k, v, out, lse, workspace, bytes);
    buffers.sinks = sinks.get();
    return buffers;
  }
  void run(const wavesmith_attention &attention) {
    wavesmith_plan plan = nullptr;
    wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
    ASSERT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &info)));
    const Memory workspace(info.workspace_bytes + 1);
    wavesmith_attention_buffers all = buffers(workspace, info.workspace_bytes);
    const Array offsetsQ(std::vector(std::begin(kQueries), std::end(kQueries)));
    const Array offsetsKv(std::vector(std::begin(kKeys), std::end(kKeys)));
    if (attention.lengths == WAVESMITH_LENGTHS_ON_DEVICE) {
      all.cu_seqlens_q = offsetsQ.get();
      all.cu_seqlens_kv = offsetsKv.get();
    }
    ASSERT_TRUE(ok(wavesmith_upload(plan, all.workspace, info.workspace_bytes, nullptr)));
    ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &all, nullptr)));
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  }

  /// Of every row's out by its norm, and of its lse; a row without keys exactly.
  void expectRight(const wavesmith_attention &call, double outBound, double lseBound) const {
    const std::vector<std::uint16_t> got = out.read();
    const std::vector<float> gotLse = lse.read();
    const auto at = [](int row, int head) {
      return static_cast<std::size_t>(row * kHeads + head) * kDim;
    };
    for (int s = 0; s < kSequences; ++s)
      for (int row = kQueries[s]; row < kQueries[s + 1]; ++row)
        for (int h = 0; h < kHeads; ++h) {
          // Bottom right: the last query stands at the last key.
          const int own = kKeys[s + 1] - (kQueries[s + 1] - row);
          int first = kKeys[s], last = kKeys[s + 1] - 1;
          if (call.flags & WAVESMITH_CAUSAL)
            last = std::min(last, own);
          if ((call.flags & WAVESMITH_WINDOW) && call.window_left >= 0)
            first = std::max(first, own - call.window_left);
          if ((call.flags & WAVESMITH_WINDOW) && call.window_right >= 0)
            last = std::min(last, own + call.window_right);
          const double sink = call.flags & WAVESMITH_SINKS
                                  ? double{sinks.host[static_cast<std::size_t>(h)]}
                                  : -kInf;
          double sum = std::exp(sink), error = 0, norm = 0;
          std::vector<double> expected(kDim);
          for (int key = first; key <= last; ++key) {
            double score = 0;
            for (std::size_t i = 0; i < kDim; ++i)
              score += wide(q.host[at(row, h) + i]) * wide(k.host[at(key, h) + i]);
            const double weight = std::exp(kCap * std::tanh(score / std::sqrt(kDim) / kCap));
            sum += weight;
            for (std::size_t i = 0; i < kDim; ++i)
              expected[i] += weight * wide(v.host[at(key, h) + i]);
          }
          for (std::size_t i = 0; i < kDim; ++i) {
            const double right = sum > 0 ? expected[i] / sum : 0;
            error += std::pow(wide(got[at(row, h) + i]) - right, 2);
            norm += right * right;
          }
          SCOPED_TRACE(testing::Message() << "sequence " << s << " row " << row << " head " << h);
          ASSERT_LE(std::sqrt(error), outBound * std::sqrt(norm));
          const float rowLse =
              gotLse[static_cast<std::size_t>(h) * kTokens + static_cast<std::size_t>(row)];
          if (first > last)
            ASSERT_EQ(rowLse, static_cast<float>(sink));
          else
            ASSERT_NEAR(double{rowLse}, std::log(sum), lseBound);
        }
  }

  const Array<std::uint16_t> q, k, v, out;
  const Array<float> lse, sinks;
};
constexpr std::uint32_t kBoth = WAVESMITH_WINDOW | WAVESMITH_SINKS;

TEST_F(ScoreFunctions, InACall) {
  for (const std::uint32_t flags : {0u, std::uint32_t{WAVESMITH_WINDOW}, kBoth})
    for (const auto &[left, right] :
         {std::pair{90, -1}, {0, 0}, {-1, 5}, {3, 40}, {-1, -1}, {1000, 1 << 24}})
      for (const std::uint32_t causal : {std::uint32_t{WAVESMITH_CAUSAL}, 0u}) {
        if (left != 90 && flags == 0)
          continue;
        wavesmith_attention attention = scored(flags, left, right);
        attention.flags = (attention.flags & ~std::uint32_t{WAVESMITH_CAUSAL}) | causal;
        SCOPED_TRACE(testing::Message()
                     << "flags " << attention.flags << " " << left << ":" << right);
        ASSERT_NO_FATAL_FAILURE(run(attention));
        ASSERT_NO_FATAL_FAILURE(expectRight(attention, 8e-3, 5e-5)); // docs/testing.md
      }
}

TEST_F(ScoreFunctions, InACallThatQuantises) {
  wavesmith_attention attention = scored(kBoth);
  attention.path = WAVESMITH_PATH_FP8;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  ASSERT_NO_FATAL_FAILURE(run(attention));
  expectRight(attention, 0.15, 0.05);
}

TEST_F(ScoreFunctions, WhereOnlyTheDeviceKnowsTheLengths) {
  wavesmith_attention attention = scored(kBoth);
  attention.splits = 1;
  ASSERT_NO_FATAL_FAILURE(run(attention));
  const std::vector<std::uint16_t> onHost = out.read();
  const std::vector<float> lseOnHost = lse.read();
  ASSERT_EQ(hipMemset(out.get(), 0, kTokens * kRow * 2), hipSuccess);
  attention.lengths = WAVESMITH_LENGTHS_ON_DEVICE;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = nullptr;
  attention.max_total_q = kTokens;
  attention.max_total_kv = kKeyTokens;
  ASSERT_NO_FATAL_FAILURE(run(attention));
  EXPECT_EQ(out.read(), onHost);
  EXPECT_EQ(lse.read(), lseOnHost);
}

/// The keys before the new tokens' own come in two segments, and the sinks count once.
TEST_F(ScoreFunctions, InAPass) {
  const std::int32_t segments[][4] = {{0, 100, 100, 100}, {0, 130, 130, 130}},
                     own[] = {0, 70, 103, 123};
  const std::int32_t *const pointers[] = {segments[0], segments[1]};
  wavesmith_attention attention = scored(WAVESMITH_SINKS);
  attention.cu_seqlens_kv = own;
  wavesmith_pass_options options = WAVESMITH_INIT(wavesmith_pass_options);
  options.attention = &attention;
  options.segments = pointers;
  options.segment_count = 2;
  wavesmith_pass pass = nullptr;
  wavesmith_pass_info info = WAVESMITH_INIT(wavesmith_pass_info);
  ASSERT_TRUE(ok(wavesmith_pass_begin(context, &options, &pass, &info)));
  const Memory workspace(info.workspace_bytes + 1);
  wavesmith_attention_buffers all = buffers(workspace, info.workspace_bytes);
  ASSERT_TRUE(ok(wavesmith_pass_upload(pass, all.workspace, info.workspace_bytes, nullptr)));
  // Keys of the first sequence, then its own and the second's, follow each other.
  for (const auto &[begin, segment] : {std::pair{0, 0}, {100, 1}, {230, -1}}) {
    all.k = k.get() + static_cast<std::size_t>(begin) * kRow;
    all.v = v.get() + static_cast<std::size_t>(begin) * kRow;
    ASSERT_TRUE(ok(segment >= 0 ? wavesmith_pass_segment(pass, static_cast<std::uint64_t>(segment),
                                                         &all, nullptr)
                                : wavesmith_pass_finish(pass, &all, nullptr)));
  }
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  ASSERT_TRUE(ok(wavesmith_pass_destroy(pass)));
  attention.cu_seqlens_kv = kKeys;
  expectRight(attention, 8e-3 + 3 * 0x1p-8, 1e-4);

  attention.flags |= WAVESMITH_WINDOW;
  EXPECT_EQ(wavesmith_pass_begin(context, &options, &pass, nullptr), WAVESMITH_UNSUPPORTED);
  EXPECT_THAT(wavesmith_last_error(), testing::HasSubstr("a pass takes no window"));
}

TEST_F(ScoreFunctions, WrongOnesAreRefused) {
  const auto with = [&](auto change) {
    wavesmith_attention attention = scored(kBoth);
    change(attention);
    wavesmith_plan plan = nullptr;
    return wavesmith_plan_attention(context, &attention, &plan, nullptr);
  };
  EXPECT_TRUE(invalid(with([](auto &a) { a.soft_cap = -1; }), "soft cap is -1", "0.001 to 1000"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.soft_cap = std::nan(""); }), "soft cap is nan"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.window_left = -2; }), "window left is -2"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.flags &= ~std::uint32_t{WAVESMITH_WINDOW}; }),
                      "window_left is 90", "WAVESMITH_WINDOW"));

  EXPECT_TRUE(invalid(with([](auto &a) { a.size = offsetof(wavesmith_attention, window_left); }),
                      "size is 184", "WAVESMITH_WINDOW"));
  EXPECT_TRUE(invalid(with([](auto &a) { a.size -= 4; }), "size is 188", "multiple of 8"));

  const wavesmith_attention attention = scored(kBoth);
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_attention(context, &attention, &plan, &info)));
  const Memory workspace(info.workspace_bytes + 1);
  wavesmith_attention_buffers all = buffers(workspace, info.workspace_bytes);
  ASSERT_TRUE(ok(wavesmith_upload(plan, all.workspace, info.workspace_bytes, nullptr)));
  all.sinks = nullptr;
  EXPECT_TRUE(invalid(wavesmith_launch_attention(plan, &all, nullptr), "sinks", "null"));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
}

} // namespace
} // namespace wavesmith::test
