// What comes out of the C interface, with real kernels on the emulator: the context pass against
// float64 over all keys at once, and each kernel around attention against its formula. Every shape
// and corner of the kernels themselves: tests/e2e.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "runtime/verify/BFloat16.h"
#include "runtime/verify/Float8.h"
#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

class Results : public testing::Test {
protected:
  void SetUp() override {
    wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
    options.device = WAVESMITH_DEVICE_EMULATOR;
    ASSERT_TRUE(ok(wavesmith_context_create(&options, &context)));
  }
  void TearDown() override { EXPECT_TRUE(ok(wavesmith_context_destroy(context))); }

  /// Nearly normal numbers, the same everywhere.
  float draw() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      sum += static_cast<double>(state_ >> 11) * 0x1p-53;
    }
    return static_cast<float>(sum);
  }
  std::vector<std::uint16_t> drawBf16(std::size_t count) {
    std::vector<std::uint16_t> values(count);
    std::ranges::generate(values, [&] { return floatToBf16(draw()); });
    return values;
  }
  std::vector<float> drawFloats(std::size_t count) {
    std::vector<float> values(count);
    std::ranges::generate(values, [&] { return draw(); });
    return values;
  }

  wavesmith_context context = nullptr;

private:
  std::uint64_t state_ = 1;
};

/// A host array on the device.
template <typename T> class Array {
public:
  explicit Array(std::vector<T> values)
      : host(std::move(values)), memory_(std::max<std::size_t>(host.size() * sizeof(T), 16)) {
    EXPECT_EQ(hipMemcpy(get(), host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice),
              hipSuccess);
  }
  T *get() const { return static_cast<T *>(memory_.get()); }
  /// What is on the device now.
  std::vector<T> read() const {
    std::vector<T> values(host.size());
    EXPECT_EQ(hipMemcpy(values.data(), get(), values.size() * sizeof(T), hipMemcpyDeviceToHost),
              hipSuccess);
    return values;
  }

  const std::vector<T> host;

private:
  Memory memory_;
};

template <typename T> std::vector<T> zeros(std::size_t count) { return std::vector<T>(count); }

double wide(std::uint16_t value) { return static_cast<double>(bf16ToFloat(value)); }

/// Some keys' share of one row: normalised output and log-sum-exp.
struct Part {
  std::vector<double> out;
  double lse = -kInf;
  double norm() const {
    return std::sqrt(std::inner_product(out.begin(), out.end(), out.begin(), 0.0));
  }
};

constexpr int kDim = 128, kHeads = 2;

Part attend(const std::uint16_t *q, const std::vector<const std::uint16_t *> &keys,
            const std::vector<const std::uint16_t *> &values) {
  Part part{std::vector<double>(kDim, 0.0), -kInf};
  std::vector<double> scores;
  for (const std::uint16_t *key : keys) {
    double score = 0;
    for (int i = 0; i < kDim; ++i)
      score += wide(q[i]) * wide(key[i]);
    scores.push_back(score / std::sqrt(kDim));
  }
  if (scores.empty())
    return part;
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double weight = std::exp(scores[j] - largest);
    sum += weight;
    for (int i = 0; i < kDim; ++i)
      part.out[static_cast<std::size_t>(i)] += weight * wide(values[j][i]);
  }
  for (double &value : part.out)
    value /= sum;
  part.lse = largest + std::log(sum);
  return part;
}

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

  wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
  attention.dtype = WAVESMITH_BF16;
  attention.head_dim_qk = attention.head_dim_v = kDim;
  attention.heads = kHeads;
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  attention.batch = static_cast<std::int64_t>(batch);
  attention.cu_seqlens_q = attention.cu_seqlens_kv = cuNew.data();
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
  wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
  attention.dtype = WAVESMITH_BF16;
  attention.head_dim_qk = attention.head_dim_v = kDim;
  attention.heads = kHeads;
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  attention.batch = 1;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = cu;
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
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = q.get();
  buffers.k = k.get();
  buffers.v = v.get();
  buffers.out = once.get();
  buffers.lse = lse.get();
  buffers.workspace = workspace.get();
  buffers.workspace_bytes = passInfo.workspace_bytes;
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
  // x / descale is made with a rounded inverse: the largest itself may come out just above.
  for (const std::uint64_t count : saturated.read())
    EXPECT_LE(count, 1u);
  ASSERT_TRUE(ok(wavesmith_plan_destroy(first)));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(second)));
}

TEST_F(Results, QuantisedByTheCallIsQuantisedByHand) {
  const std::int32_t cu[] = {0, 40, 110};
  const std::size_t tokens = 110, elements = tokens * kHeads * kDim;
  wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
  attention.dtype = WAVESMITH_BF16;
  attention.head_dim_qk = attention.head_dim_v = kDim;
  attention.heads = kHeads;
  attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
  attention.batch = 2;
  attention.cu_seqlens_q = attention.cu_seqlens_kv = cu;
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
  const Array out(zeros<std::uint16_t>(kTokens * kDim));
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
  wavesmith_plan plan = nullptr;
  wavesmith_plan_info info = WAVESMITH_INIT(wavesmith_plan_info);
  ASSERT_TRUE(ok(wavesmith_plan_combine(context, &combine, &plan, &info)));
  const Memory workspace(info.workspace_bytes);
  ASSERT_TRUE(ok(wavesmith_upload(plan, workspace.get(), info.workspace_bytes, nullptr)));
  wavesmith_combine_buffers buffers = WAVESMITH_INIT(wavesmith_combine_buffers);
  buffers.partial_out = partialOut.get();
  buffers.partial_lse = partialLse.get();
  buffers.out = out.get();
  buffers.lse = lse.get();
  buffers.workspace = workspace.get();
  buffers.workspace_bytes = info.workspace_bytes;
  ASSERT_TRUE(ok(wavesmith_launch_combine(plan, &buffers, nullptr)));

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

  const std::vector<std::uint16_t> combined = out.read();
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
      ASSERT_NEAR(wide(combined[row * kDim + i]), value, std::abs(value) * 0x1p-8 + scale * 1e-5);
      ASSERT_NEAR(both[row * kDim + i], value, scale * 2e-5);
    }
  }
  ASSERT_TRUE(ok(wavesmith_plan_destroy(plan)));
  ASSERT_TRUE(ok(wavesmith_plan_destroy(merging)));
}

} // namespace
} // namespace wavesmith::test
