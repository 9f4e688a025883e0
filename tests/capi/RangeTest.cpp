// The ends of the range: float16 results near the largest, and scores near what float32 resolves.

#include <cmath>

#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

constexpr std::int32_t kQueries = 64, kKeys = 300;

class Range : public Results {
protected:
  using Bits = std::vector<std::uint16_t>;

  /// Tokens of so many elements, mean + spread * normal.
  Bits draws(std::int32_t dtype, std::int32_t tokens, int dim, float mean, float spread) {
    Bits values(static_cast<std::size_t>(tokens) * kHeads * static_cast<std::size_t>(dim));
    std::ranges::generate(values,
                          [&] { return floatToElement(typeOf(dtype), mean + spread * draw()); });
    return values;
  }

  struct Rows {
    Bits out;
    std::vector<float> lse;
  };
  Rows run(wavesmith_attention call, const Bits &q, const Bits &k, const Bits &v) {
    const std::int32_t offsetsQ[] = {0, kQueries}, offsetsKv[] = {0, kKeys};
    call.cu_seqlens_q = offsetsQ;
    call.cu_seqlens_kv = offsetsKv;
    const Array onDeviceQ(q), onDeviceK(k), onDeviceV(v);
    const Array out(zeros<std::uint16_t>(std::size_t{kQueries} * kHeads * kDim));
    const Array lse(zeros<float>(std::size_t{kQueries} * kHeads));
    wavesmith_plan plan = nullptr;
    wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
    EXPECT_TRUE(ok(wavesmith_plan_attention(context, &call, &plan, &info)));
    const Memory workspace(info.workspace_bytes + 1);
    const auto buffers =
        buffersOf(onDeviceQ, onDeviceK, onDeviceV, out, lse, workspace, info.workspace_bytes);
    EXPECT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, info.workspace_bytes, nullptr)));
    EXPECT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, nullptr)));
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
    EXPECT_TRUE(ok(wavesmith_plan_destroy(plan)));
    return {out.read(), lse.read()};
  }

  static DType typeOf(std::int32_t dtype) {
    return dtype == WAVESMITH_F16 ? DType::F16 : DType::BF16;
  }
};

class InfiniteF16 : public Range {};
class LargestF16 : public Range, public testing::WithParamInterface<std::int32_t> {};

/// Of values all alike each output is that value, whatever the weights are.
TEST_P(LargestF16, StaysFinite) {
  wavesmith_attention call = causal(nullptr, 1);
  call.dtype = WAVESMITH_F16;
  call.head_dim_qk = 192;
  call.path = GetParam();
  call.flags |= WAVESMITH_FP8_CONTEXT;
  if (call.path == WAVESMITH_PATH_FP8)
    call.scales = WAVESMITH_SCALES_DYNAMIC;
  const double weights = call.path == WAVESMITH_PATH_FP8 ? 0x1p-4 : 0x1p-9; // how far off one is
  const Bits q = draws(WAVESMITH_F16, kQueries, 192, 0, 1);
  const Bits k = draws(WAVESMITH_F16, kKeys, 192, 0, 4);
  for (const std::uint16_t largest : {std::uint16_t{0x7bff}, std::uint16_t{0xfbff}}) {
    const Rows rows = run(call, q, k, Bits(std::size_t{kKeys} * kHeads * kDim, largest));
    for (const std::uint16_t bits : rows.out)
      ASSERT_NEAR(wide(bits, DType::F16) / wide(largest, DType::F16), 1, weights);
  }
}
INSTANTIATE_TEST_SUITE_P(Paths, LargestF16,
                         testing::Values(WAVESMITH_PATH_BF16, WAVESMITH_PATH_FP8));

TEST_F(InfiniteF16, StaysInfinite) {
  wavesmith_attention call = causal(nullptr, 1);
  call.dtype = WAVESMITH_F16;
  call.flags &= ~std::uint32_t{WAVESMITH_CAUSAL};
  Bits v = draws(WAVESMITH_F16, kKeys, kDim, 0, 1);
  v[7] = 0x7c00;
  v[9] = 0xfc00;
  const Rows rows = run(call, draws(WAVESMITH_F16, kQueries, kDim, 0, 1),
                        draws(WAVESMITH_F16, kKeys, kDim, 0, 1), v);
  for (std::size_t row = 0; row < kQueries; ++row)
    for (std::size_t i = 0; i < kDim; ++i) {
      const double out = wide(rows.out[row * kHeads * kDim + i], DType::F16);
      if (i == 7 || i == 9)
        ASSERT_EQ(out, i == 7 ? kInf : -kInf);
      else
        ASSERT_LT(std::abs(out), 5);
    }
}

class LargeScores : public Range, public testing::WithParamInterface<std::int32_t> {
protected:
  /// All scores are around size^2 * sqrt(dim), all values 1.
  Rows runWith(float size) {
    wavesmith_attention call = causal(nullptr, 1);
    call.dtype = GetParam();
    return run(call, draws(call.dtype, kQueries, kDim, size, size / 10),
               draws(call.dtype, kKeys, kDim, size, size / 10),
               draws(call.dtype, kKeys, kDim, 1, 0));
  }
};

TEST_P(LargeScores, AreRightToTheLimit) {
  const Rows rows = runWith(1000); // scores of 1.1e7
  for (const std::uint16_t bits : rows.out)
    ASSERT_NEAR(wide(bits, typeOf(GetParam())), 1, GetParam() == WAVESMITH_F16 ? 1e-3 : 8e-3);
  for (const float lse : rows.lse)
    ASSERT_NEAR(lse, 1.1e7, 1e7);
}

/// Nobody may think that they are right, or had no keys.
TEST_P(LargeScores, AreNanPastIt) {
  for (const float size : {2000.0f, 4000.0f, 10000.0f, 20000.0f}) { // from 4.5e7 to 4.5e9
    const Rows rows = runWith(size);
    EXPECT_TRUE(std::ranges::all_of(rows.lse, [](float lse) { return std::isnan(lse); })) << size;
    EXPECT_TRUE(std::ranges::all_of(rows.out, [](std::uint16_t bits) {
      return std::isnan(wide(bits, typeOf(GetParam())));
    })) << size;
  }
}
/// Keys far below the others do not count, whichever piece of the keys has them.
TEST_P(LargeScores, FarBelowDoNotCount) {
  for (const std::int32_t splits : {1, 2, 8}) {
    wavesmith_attention call = causal(nullptr, 1);
    call.dtype = GetParam();
    call.flags &= ~std::uint32_t{WAVESMITH_CAUSAL};
    call.splits = splits;
    Bits k = draws(call.dtype, kKeys, kDim, -3000, 100);
    std::ranges::fill(k.begin() + k.size() / 2, k.end(), std::uint16_t{0}); // scores of 0
    const Rows rows = run(call, draws(call.dtype, kQueries, kDim, 3000, 100), k,
                          draws(call.dtype, kKeys, kDim, 1, 0));
    for (const std::uint16_t bits : rows.out)
      ASSERT_NEAR(wide(bits, typeOf(GetParam())), 1, 8e-3) << splits;
    for (const float lse : rows.lse)
      ASSERT_NEAR(lse, std::log(kKeys / 2), 1e-4) << splits;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LargeScores, testing::Values(WAVESMITH_BF16, WAVESMITH_F16));

} // namespace
} // namespace wavesmith::test
