// The kernels around attention through the C interface against their formulas, and FP8 calls of
// bf16 inputs against the same steps by hand.

#include <cmath>

#include "runtime/verify/Float8.h"

#include "tests/capi/ResultsFixture.h"

namespace wavesmith::test {
namespace {

constexpr std::size_t kTokens = 37;

TEST_F(Results, QuantisedRowsAreThoseOfTheirMaxima) {
  constexpr std::size_t kWidth = 64;
  const Array x(drawBf16(kTokens * kHeads * kWidth));
  const Array amax(zeros<float>(kHeads)), descale(zeros<float>(kHeads));
  const Array y(zeros<std::uint8_t>(kTokens * kHeads * kWidth));
  const Array saturated(zeros<std::uint64_t>(kHeads));
  wavesmith_amax measure = WAVESMITH_INIT(wavesmith_amax);
  measure.input = WAVESMITH_BF16;
  measure.head_dim = kWidth;
  measure.heads = kHeads;
  measure.tokens = kTokens;
  wavesmith_quantize quantize = WAVESMITH_INIT(wavesmith_quantize);
  quantize.input = WAVESMITH_BF16;
  quantize.head_dim = kWidth;
  quantize.heads = kHeads;
  quantize.tokens = kTokens;
  quantize.flags = WAVESMITH_DYNAMIC;
  wavesmith_plan first = nullptr, second = nullptr;
  ASSERT_TRUE(ok(wavesmith_plan_amax(context, &measure, &first, nullptr)));
  ASSERT_TRUE(ok(wavesmith_plan_quantize(context, &quantize, &second, nullptr)));
  wavesmith_amax_buffers a = WAVESMITH_INIT(wavesmith_amax_buffers);
  a.x = x.get();
  a.amax = amax.get();
  wavesmith_quantize_buffers b = WAVESMITH_INIT(wavesmith_quantize_buffers);
  b.x = x.get();
  b.y = y.get();
  b.descale = descale.get();
  b.amax = amax.get();
  b.saturated = saturated.get();
  ASSERT_TRUE(ok(wavesmith_launch_amax(first, &a, nullptr)));
  ASSERT_TRUE(ok(wavesmith_launch_quantize(second, &b, nullptr)));
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);

  const std::vector<float> maxima = amax.read(), scales = descale.read();
  const std::vector<std::uint8_t> codes = y.read();
  constexpr float kLargest = 240; // of e4m3fnuz
  for (std::size_t h = 0; h < kHeads; ++h) {
    float largest = 0;
    for (std::size_t t = 0; t < kTokens; ++t)
      for (std::size_t i = 0; i < kWidth; ++i)
        largest = std::max(largest, std::abs(bf16ToFloat(x.host[(t * kHeads + h) * kWidth + i])));
    EXPECT_EQ(maxima[h], largest);
    EXPECT_FLOAT_EQ(scales[h], largest / kLargest);
    for (std::size_t t = 0; t < kTokens; ++t)
      for (std::size_t i = 0; i < kWidth; ++i) {
        const std::size_t at = (t * kHeads + h) * kWidth + i;
        const double want = wide(x.host[at]),
                     got = fp8ToDouble(Fp8Format::E4M3Fnuz, codes[at]) * scales[h];
        // Half a unit of e4m3, or half the smallest step.
        ASSERT_NEAR(got, want, std::max(std::abs(want) * 0x1p-4, scales[h] * 0x1p-11) * 1.001);
      }
  }
  EXPECT_THAT(saturated.read(), testing::Each(0u)) << "the largest made its own scale";
  ASSERT_TRUE(ok(wavesmith_plan_destroy(first)));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(second)));
}

TEST_F(Results, QuantisedByTheCallIsQuantisedByHand) {
  const std::int32_t cu[] = {0, 40, 110};
  const std::size_t tokens = 110, elements = tokens * kHeads * kDim;
  wavesmith_attention attention = causal(cu, 2);
  attention.splits = 1;
  attention.path = WAVESMITH_PATH_FP8;
  attention.scales = WAVESMITH_SCALES_DYNAMIC;
  attention.rotation = 11;
  const Array q(drawBf16(elements)), k(drawBf16(elements)), v(drawBf16(elements));
  const Array out(zeros<std::uint16_t>(elements)), outByHand(zeros<std::uint16_t>(elements));
  const Array lse(zeros<float>(tokens * kHeads)), lseByHand(zeros<float>(tokens * kHeads));
  const auto launch = [&](const wavesmith_attention &call, wavesmith_attention_buffers buffers,
                          std::vector<std::uint64_t> *saturated) {
    wavesmith_plan plan = nullptr;
    wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
    ASSERT_TRUE(ok(wavesmith_plan_attention(context, &call, &plan, &info)));
    EXPECT_EQ(info.path, WAVESMITH_PATH_FP8);
    const Memory workspace(info.workspace_bytes);
    buffers.workspace = workspace.get();
    buffers.workspace_bytes = info.workspace_bytes;
    ASSERT_TRUE(ok(wavesmith_upload(plan, buffers.workspace, info.workspace_bytes, nullptr)));
    ASSERT_TRUE(ok(wavesmith_launch_attention(plan, &buffers, nullptr)));
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    if (saturated) {
      saturated->resize(kHeads);
      ASSERT_EQ(hipMemcpy(saturated->data(), workspace.at(info.saturated_q),
                          kHeads * sizeof(std::uint64_t), hipMemcpyDeviceToHost),
                hipSuccess);
    }
    ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  };
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = q.get();
  buffers.k = k.get();
  buffers.v = v.get();
  buffers.out = out.get();
  buffers.lse = lse.get();
  std::vector<std::uint64_t> saturated;
  launch(attention, buffers, &saturated);

  struct Codes {
    Array<std::uint8_t> codes{zeros<std::uint8_t>(tokens * kHeads * kDim)};
    Array<float> descale{zeros<float>(kHeads)};
    Array<std::uint64_t> saturated{zeros<std::uint64_t>(kHeads)};
  };
  const auto byHand = [&](const Array<std::uint16_t> &x, std::uint32_t rotation, Codes &to) {
    wavesmith_amax measure = WAVESMITH_INIT(wavesmith_amax);
    measure.input = WAVESMITH_BF16;
    measure.head_dim = kDim;
    measure.heads = kHeads;
    measure.tokens = tokens;
    measure.rotation = rotation;
    wavesmith_quantize quantize = WAVESMITH_INIT(wavesmith_quantize);
    quantize.input = WAVESMITH_BF16;
    quantize.head_dim = kDim;
    quantize.heads = kHeads;
    quantize.tokens = tokens;
    quantize.flags = WAVESMITH_DYNAMIC;
    quantize.rotation = rotation;
    wavesmith_plan first = nullptr, second = nullptr;
    ASSERT_TRUE(ok(wavesmith_plan_amax(context, &measure, &first, nullptr)));
    ASSERT_TRUE(ok(wavesmith_plan_quantize(context, &quantize, &second, nullptr)));
    const Array maxima(zeros<float>(kHeads));
    wavesmith_amax_buffers a = WAVESMITH_INIT(wavesmith_amax_buffers);
    a.x = x.get();
    a.amax = maxima.get();
    wavesmith_quantize_buffers b = WAVESMITH_INIT(wavesmith_quantize_buffers);
    b.x = x.get();
    b.y = to.codes.get();
    b.descale = to.descale.get();
    b.amax = maxima.get();
    b.saturated = to.saturated.get();
    ASSERT_TRUE(ok(wavesmith_launch_amax(first, &a, nullptr)));
    ASSERT_TRUE(ok(wavesmith_launch_quantize(second, &b, nullptr)));
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_plan_destroy(first)));
    ASSERT_TRUE(ok(wavesmith_plan_destroy(second)));
  };
  Codes cq, ck, cv;
  byHand(q, 11, cq);
  byHand(k, 11, ck);
  byHand(v, 0, cv);
  attention.dtype = WAVESMITH_FP8;
  attention.path = 0;
  attention.scales = WAVESMITH_SCALES_NONE;
  attention.rotation = 0;
  buffers.q = cq.codes.get();
  buffers.k = ck.codes.get();
  buffers.v = cv.codes.get();
  buffers.descale_q = cq.descale.get();
  buffers.descale_k = ck.descale.get();
  buffers.descale_v = cv.descale.get();
  buffers.out = outByHand.get();
  buffers.lse = lseByHand.get();
  launch(attention, buffers, nullptr);
  EXPECT_EQ(out.read(), outByHand.read());
  EXPECT_EQ(lse.read(), lseByHand.read());
  EXPECT_NE(out.read(), zeros<std::uint16_t>(elements));
  EXPECT_EQ(saturated, cq.saturated.read());
}

TEST_F(Results, CombinedPartialsAndMergedStatesAgree) {
  // Three partials of one block in slots 1 to 3; combined at once, and merged two by two.
  constexpr std::size_t kSlots = 4, kRows = 256;
  std::vector<float> lses = drawFloats(kSlots * kRows);
  lses[2 * kRows + 5] = -std::numeric_limits<float>::infinity(); // an empty partial
  for (const std::size_t slot : {1, 2, 3})
    lses[slot * kRows + 9] = -std::numeric_limits<float>::infinity(); // a row without keys
  const Array partialLse(lses);
  const Array partialOut(drawFloats(kSlots * kRows * kDim));
  const Array out(zeros<std::uint16_t>(kTokens * kDim)),
      outF16(zeros<std::uint16_t>(kTokens * kDim));
  const Array lse(zeros<float>(kTokens));
  const wavesmith_combine_block block = {0, kTokens, 0, 1, 3, {}};
  wavesmith_combine combine = WAVESMITH_INIT(wavesmith_combine);
  combine.head_dim_v = kDim;
  combine.heads = 1;
  combine.flags = WAVESMITH_LSE;
  combine.slots = kSlots;
  combine.tokens = kTokens;
  combine.blocks = &block;
  combine.block_count = 1;
  for (const auto &[element, to] :
       {std::pair{std::int32_t{0}, &out}, {std::int32_t{WAVESMITH_F16}, &outF16}}) {
    combine.element = element;
    wavesmith_plan plan = nullptr;
    wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
    ASSERT_TRUE(ok(wavesmith_plan_combine(context, &combine, &plan, &info)));
    const Memory workspace(info.workspace_bytes);
    ASSERT_TRUE(ok(wavesmith_upload(plan, workspace.get(), info.workspace_bytes, nullptr)));
    wavesmith_combine_buffers buffers = WAVESMITH_INIT(wavesmith_combine_buffers);
    buffers.partial_out = partialOut.get();
    buffers.partial_lse = partialLse.get();
    buffers.out = to->get();
    buffers.lse = lse.get();
    buffers.workspace = workspace.get();
    buffers.workspace_bytes = info.workspace_bytes;
    ASSERT_TRUE(ok(wavesmith_launch_combine(plan, &buffers, nullptr)));
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  }

  wavesmith_merge merge = WAVESMITH_INIT(wavesmith_merge);
  merge.element = WAVESMITH_F32;
  merge.head_dim_v = kDim;
  merge.heads = 1;
  merge.tokens = kTokens;
  wavesmith_plan merging = nullptr;
  ASSERT_TRUE(ok(wavesmith_plan_merge(context, &merge, &merging, nullptr)));
  const Array merged(zeros<float>(kTokens * kDim));
  const Array mergedLse(zeros<float>(kTokens));
  wavesmith_merge_buffers states = WAVESMITH_INIT(wavesmith_merge_buffers);
  const auto state = [&](std::size_t slot) { return partialOut.get() + slot * kRows * kDim; };
  states.a = state(1);
  states.lse_a = partialLse.get() + kRows;
  states.b = state(2);
  states.lse_b = partialLse.get() + 2 * kRows;
  states.out = merged.get();
  states.lse = mergedLse.get();
  ASSERT_TRUE(ok(wavesmith_launch_merge(merging, &states, nullptr)));
  states.a = merged.get(); // in place
  states.lse_a = mergedLse.get();
  states.b = state(3);
  states.lse_b = partialLse.get() + 3 * kRows;
  ASSERT_TRUE(ok(wavesmith_launch_merge(merging, &states, nullptr)));
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);

  const std::vector<std::uint16_t> combined = out.read(), combinedF16 = outF16.read();
  const std::vector<float> combinedLse = lse.read(), both = merged.read(),
                           bothLse = mergedLse.read();
  for (std::size_t row = 0; row < kTokens; ++row) {
    double largest = -kInf, sum = 0;
    for (const std::size_t slot : {1, 2, 3})
      largest = std::max(largest, static_cast<double>(lses[slot * kRows + row]));
    for (const std::size_t slot : {1, 2, 3})
      sum += largest == -kInf ? 0 : std::exp(lses[slot * kRows + row] - largest);
    const double wanted = largest + std::log(sum);
    if (row == 9) {
      EXPECT_EQ(combinedLse[row], -kInf);
      EXPECT_EQ(bothLse[row], -kInf);
    } else {
      ASSERT_NEAR(combinedLse[row], wanted, 1e-5 * std::max(1.0, std::abs(wanted)));
      ASSERT_NEAR(bothLse[row], wanted, 2e-5 * std::max(1.0, std::abs(wanted)));
    }
    for (std::size_t i = 0; i < kDim; ++i) {
      double value = 0, scale = 0;
      for (const std::size_t slot : {1, 2, 3}) {
        const double weight = row == 9 ? 0 : std::exp(lses[slot * kRows + row] - wanted),
                     part = weight * partialOut.host[(slot * kRows + row) * kDim + i];
        value += part;
        scale += std::abs(part);
      }
      // Half a step of each type.
      ASSERT_NEAR(wide(combined[row * kDim + i]), value, std::abs(value) * 0x1p-8 + scale * 1e-5);
      ASSERT_NEAR(wide(combinedF16[row * kDim + i], DType::F16), value,
                  std::abs(value) * 0x1p-11 + 0x1p-25 + scale * 1e-5);
      ASSERT_NEAR(both[row * kDim + i], value, scale * 2e-5);
    }
  }
  ASSERT_TRUE(ok(wavesmith_plan_destroy(merging)));
}

} // namespace
} // namespace wavesmith::test
