#pragma once
// What tests of results through the C interface share: a context on the emulator with real kernels,
// numbers, arrays on the device.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/verify/Element16.h"
#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {

inline constexpr int kDim = 128, kHeads = 2;
inline constexpr double kInf = std::numeric_limits<double>::infinity();

class Results : public testing::Test {
protected:
  void SetUp() override {
    wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
    options.device = WAVESMITH_DEVICE_EMULATOR;
    ASSERT_TRUE(ok(wavesmith_context_create(&options, &context)));
  }
  void TearDown() override { EXPECT_TRUE(ok(wavesmith_context_destroy(context))); }

  /// A causal call with LSE over so many sequences with these offsets.
  static wavesmith_attention causal(const std::int32_t *offsets, std::size_t batch) {
    wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
    attention.dtype = WAVESMITH_BF16;
    attention.head_dim_qk = attention.head_dim_v = kDim;
    attention.heads = kHeads;
    attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
    attention.batch = static_cast<std::int64_t>(batch);
    attention.cu_seqlens_q = attention.cu_seqlens_kv = offsets;
    return attention;
  }

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

/// The arrays of a call and its workspace.
inline wavesmith_attention_buffers
buffersOf(const Array<std::uint16_t> &q, const Array<std::uint16_t> &k,
          const Array<std::uint16_t> &v, const Array<std::uint16_t> &out, const Array<float> &lse,
          const Memory &workspace, std::uint64_t workspaceBytes) {
  wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
  buffers.q = q.get();
  buffers.k = k.get();
  buffers.v = v.get();
  buffers.out = out.get();
  buffers.lse = lse.get();
  buffers.workspace = workspace.get();
  buffers.workspace_bytes = workspaceBytes;
  return buffers;
}

template <typename T> std::vector<T> zeros(std::size_t count) { return std::vector<T>(count); }

inline double wide(std::uint16_t value, DType dtype = DType::BF16) {
  return double{elementToFloat(dtype, value)};
}

/// Some keys' share of one row: normalised output and log-sum-exp.
struct Part {
  std::vector<double> out;
  double lse = -kInf;
  double size = 0; ///< sqrt(sum_j (w_j |v_j|)^2): of independent errors of the keys
  double norm() const {
    return std::sqrt(std::inner_product(out.begin(), out.end(), out.begin(), 0.0));
  }
};

inline Part attend(const std::uint16_t *q, const std::vector<const std::uint16_t *> &keys,
                   const std::vector<const std::uint16_t *> &values, DType dtype = DType::BF16) {
  Part part{std::vector<double>(kDim, 0.0), -kInf, 0};
  std::vector<double> scores;
  for (const std::uint16_t *key : keys) {
    double score = 0;
    for (int i = 0; i < kDim; ++i)
      score += wide(q[i], dtype) * wide(key[i], dtype);
    scores.push_back(score / std::sqrt(kDim));
  }
  if (scores.empty())
    return part;
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double weight = std::exp(scores[j] - largest);
    sum += weight;
    double squares = 0;
    for (int i = 0; i < kDim; ++i) {
      const double value = wide(values[j][i], dtype);
      part.out[static_cast<std::size_t>(i)] += weight * value;
      squares += value * value;
    }
    part.size += weight * weight * squares;
  }
  for (double &value : part.out)
    value /= sum;
  part.size = std::sqrt(part.size) / sum;
  part.lse = largest + std::log(sum);
  return part;
}

} // namespace wavesmith::test
