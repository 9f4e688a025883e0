#pragma once
// Tests of the C interface from outside: the public header, the shared library and HIP functions of
// the emulator. Kernels come from FakeCompiler.cpp and end at once; what is tested is all around
// them. Two devices.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <hip/hip_runtime_api.h>

#include "include/wavesmith/wavesmith.h"
#include "tests/device/Assembler.h"

namespace wavesmith::test {

/// Passes when the status is OK; prints the sentence otherwise.
inline testing::AssertionResult ok(wavesmith_status status) {
  if (status == WAVESMITH_OK)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << wavesmith_status_name(status) << ": " << wavesmith_last_error();
}

/// Passes when the status is this one and the sentence holds every word.
template <typename... Words>
testing::AssertionResult refused(wavesmith_status status, wavesmith_status wanted,
                                 const Words &...words) {
  const std::string text = wavesmith_last_error();
  std::string missing;
  ((text.find(words) == std::string::npos ? void(missing += std::string(" \"") + words + "\"")
                                          : void()),
   ...);
  if (status == wanted && missing.empty())
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << wavesmith_status_name(status) << ", want " << wavesmith_status_name(wanted) << ": \""
         << text << "\"" << (missing.empty() ? "" : " lacks") << missing;
}
template <typename... Words>
testing::AssertionResult invalid(wavesmith_status status, const Words &...words) {
  return refused(status, WAVESMITH_INVALID_ARGUMENT, words...);
}

/// Device memory that goes with the test.
class Memory {
public:
  explicit Memory(std::size_t bytes) {
    EXPECT_EQ(hipMalloc(&address_, bytes), hipSuccess);
    EXPECT_EQ(hipMemset(address_, 0, bytes), hipSuccess);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { EXPECT_EQ(hipFree(address_), hipSuccess); }

  void *get() const { return address_; }
  char *at(std::size_t offset) const { return static_cast<char *>(address_) + offset; }

private:
  void *address_ = nullptr;
};

class CapiTest : public testing::Test {
protected:
  void SetUp() override {
    if (const auto missing = assemblerMissing())
      GTEST_SKIP() << *missing;
    ASSERT_EQ(hipSetDevice(0), hipSuccess);
    context = open(0);
    ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  }
  void TearDown() override {
    if (context)
      EXPECT_TRUE(ok(wavesmith_context_destroy(context)));
    if (stream)
      EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  }

  static wavesmith_context open(std::int32_t ordinal) {
    wavesmith_context_options options = WAVESMITH_INIT(wavesmith_context_options);
    options.device = WAVESMITH_DEVICE_EMULATOR;
    options.ordinal = ordinal;
    wavesmith_context made = nullptr;
    EXPECT_TRUE(ok(wavesmith_context_create(&options, &made)));
    return made;
  }

  /// Two sequences, 300 and 20 queries over 300 and 90 keys; 192/128, 12 heads.
  wavesmith_attention description() const {
    wavesmith_attention attention = WAVESMITH_INIT(wavesmith_attention);
    attention.dtype = WAVESMITH_BF16;
    attention.head_dim_qk = 192;
    attention.head_dim_v = 128;
    attention.heads = 12;
    attention.flags = WAVESMITH_CAUSAL | WAVESMITH_LSE;
    attention.batch = 2;
    attention.cu_seqlens_q = cuQ;
    attention.cu_seqlens_kv = cuKv;
    return attention;
  }
  wavesmith_plan plan(const wavesmith_attention &attention, wavesmith_plan_info *info = nullptr) {
    wavesmith_plan made = nullptr;
    EXPECT_TRUE(ok(wavesmith_plan_attention(context, &attention, &made, info)));
    return made;
  }
  /// Addresses that fit every plan of description(); the kernels touch nothing.
  wavesmith_attention_buffers buffersAt(const Memory &memory) const {
    wavesmith_attention_buffers buffers = WAVESMITH_INIT(wavesmith_attention_buffers);
    buffers.q = memory.at(0x1000);
    buffers.k = memory.at(0x2000);
    buffers.v = memory.at(0x3000);
    buffers.out = memory.at(0x4000);
    buffers.lse = reinterpret_cast<float *>(memory.at(0x5000));
    buffers.workspace = memory.at(kWorkspaceAt);
    buffers.workspace_bytes = kWorkspaceBytes;
    return buffers;
  }
  static constexpr std::size_t kWorkspaceAt = 0x10000, kWorkspaceBytes = std::size_t{8} << 20,
                               kMemoryBytes = kWorkspaceAt + kWorkspaceBytes;

  wavesmith_context context = nullptr;
  hipStream_t stream = nullptr;
  std::int32_t cuQ[3] = {0, 300, 320}, cuKv[3] = {0, 300, 390};
};

} // namespace wavesmith::test
