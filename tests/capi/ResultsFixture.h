#pragma once
// What tests of results through the C interface share: a context on the emulator with real kernels,
// numbers, arrays on the device.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/verify/BFloat16.h"
#include "tests/capi/CapiFixture.h"

namespace wavesmith::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

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

inline double wide(std::uint16_t value) { return static_cast<double>(bf16ToFloat(value)); }

inline constexpr int kDim = 128, kHeads = 2;

} // namespace wavesmith::test
