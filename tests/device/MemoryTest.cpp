#include "tests/device/DeviceFixture.h"

namespace wavesmith {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class Memory : public test::DeviceTest {};
ON_EVERY_DEVICE(Memory);

TEST_P(Memory, BytesComeBackAsTheyWere) {
  for (const std::size_t bytes : {1, 3, 255, 4096, 1 << 20}) {
    DeviceBuffer buffer = this->buffer(bytes);
    std::vector<std::byte> in(bytes), out(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      in[i] = std::byte(i * 7 + 1);
    ASSERT_TRUE(buffer.upload(in));
    ASSERT_TRUE(buffer.download(out));
    EXPECT_EQ(in, out);
  }
}

TEST_P(Memory, PartsAreCopiedBetweenBuffers) {
  DeviceBuffer a = buffer(64), b = buffer(64);
  ASSERT_TRUE(a.fill(std::byte{0x11}));
  ASSERT_TRUE(b.fill(std::byte{0x22}));
  ASSERT_EQ(hip->hipMemcpy(static_cast<char *>(b.data()) + 8, static_cast<char *>(a.data()) + 4, 16,
                           hipMemcpyDeviceToDevice),
            hipSuccess);
  std::vector<std::byte> out(64);
  ASSERT_TRUE(b.download(out));
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], i >= 8 && i < 24 ? std::byte{0x11} : std::byte{0x22}) << i;
}

TEST_P(Memory, TheDirectionMayBeLeftToHip) {
  DeviceBuffer buffer = this->buffer(16);
  const std::uint32_t in[4] = {1, 2, 3, 4};
  std::uint32_t out[4] = {};
  ASSERT_EQ(hip->hipMemcpy(buffer.data(), in, sizeof(in), hipMemcpyDefault), hipSuccess);
  ASSERT_EQ(hip->hipMemcpy(out, buffer.data(), sizeof(out), hipMemcpyDefault), hipSuccess);
  EXPECT_THAT(out, testing::ElementsAre(1, 2, 3, 4));
}

TEST_P(Memory, WordsAreFilled) {
  DeviceBuffer buffer = this->buffer(40);
  ASSERT_TRUE(buffer.fill(std::byte{0}));
  ASSERT_EQ(hip->hipMemsetD32Async(static_cast<char *>(buffer.data()) + 4,
                                   static_cast<int>(0x7fc00000), 8, nullptr),
            hipSuccess);
  const std::vector<std::uint32_t> out = words(buffer);
  EXPECT_EQ(out.front(), 0u);
  EXPECT_EQ(out.back(), 0u);
  for (std::size_t i = 1; i < 9; ++i)
    EXPECT_EQ(out[i], 0x7fc00000u);
}

TEST_P(Memory, PinnedMemoryIsOrdinaryToTheHost) {
  void *pinned = nullptr;
  ASSERT_EQ(hip->hipHostMalloc(&pinned, 4096, 0), hipSuccess);
  std::memset(pinned, 0x5a, 4096);
  DeviceBuffer buffer = this->buffer(4096);
  ASSERT_EQ(hip->hipMemcpyAsync(buffer.data(), pinned, 4096, hipMemcpyHostToDevice, nullptr),
            hipSuccess);
  ASSERT_EQ(hip->hipDeviceSynchronize(), hipSuccess);
  std::vector<std::byte> out(4096);
  ASSERT_TRUE(buffer.download(out));
  EXPECT_EQ(out[4095], std::byte{0x5a});
  EXPECT_EQ(hip->hipHostFree(pinned), hipSuccess);
}

TEST_P(Memory, EmptyRequestsAreFine) {
  void *pointer = this;
  EXPECT_EQ(hip->hipMalloc(&pointer, 0), hipSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hip->hipFree(nullptr), hipSuccess);
  EXPECT_EQ(hip->hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault), hipSuccess);
}

TEST_P(Memory, MoreThanThereIsIsRefused) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(hip->hipMemGetInfo(&free, &total), hipSuccess);
  EXPECT_LE(free, total);
  void *pointer = nullptr;
  EXPECT_EQ(hip->hipMalloc(&pointer, total * 2), hipErrorOutOfMemory);
  EXPECT_EQ(pointer, nullptr);
  const auto buffer = DeviceBuffer::allocate(hip, total * 2);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.status().code(), StatusCode::ResourceExhausted);
  EXPECT_THAT(buffer.status().message(), HasSubstr("hipErrorOutOfMemory"));
}

TEST_P(Memory, MemInfoCountsAllocations) {
  std::size_t before = 0, during = 0, total = 0;
  ASSERT_EQ(hip->hipMemGetInfo(&before, &total), hipSuccess);
  {
    DeviceBuffer buffer = this->buffer(1 << 30);
    ASSERT_EQ(hip->hipMemGetInfo(&during, &total), hipSuccess);
  }
  EXPECT_GE(before - during, std::size_t{1} << 30);
}

TEST_P(Memory, ACopyPastTheEndIsRefused) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "real HIP may fault instead";
  DeviceBuffer buffer = this->buffer(100);
  std::vector<std::byte> host(200);
  EXPECT_EQ(hip->hipMemcpy(host.data(), buffer.data(), 101, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr("101 bytes wanted"));
  EXPECT_EQ(hip->hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hip->hipGetLastError(), hipSuccess);
}

TEST_P(Memory, FreedMemoryIsGone) {
  if (!hip->isEmulator())
    GTEST_SKIP() << "real HIP may fault instead";
  void *pointer = nullptr;
  ASSERT_EQ(hip->hipMalloc(&pointer, 256), hipSuccess);
  EXPECT_EQ(hip->hipFree(static_cast<char *>(pointer) + 16), hipErrorInvalidValue);
  EXPECT_EQ(hip->hipFree(pointer), hipSuccess);
  EXPECT_EQ(hip->hipFree(pointer), hipErrorInvalidValue);
  int value = 0;
  EXPECT_EQ(hip->hipMemcpy(&value, pointer, 4, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_THAT(hip->wavesmithEmulatorLastError(), HasSubstr("no live allocation"));
}

TEST_P(Memory, ExtentsPassFourGigabytes) {
  const std::uint64_t bytes = std::uint64_t{6} << 30;
  DeviceBuffer buffer = this->buffer(bytes);
  const std::uint32_t first = 0x11111111, last = 0x22222222;
  ASSERT_TRUE(buffer.upload(std::as_bytes(std::span(&first, 1))));
  ASSERT_TRUE(buffer.upload(std::as_bytes(std::span(&last, 1)), bytes - 4));
  std::uint32_t seen = 0;
  ASSERT_TRUE(buffer.download(std::as_writable_bytes(std::span(&seen, 1)), bytes - 4));
  EXPECT_EQ(seen, last);
  ASSERT_TRUE(buffer.download(std::as_writable_bytes(std::span(&seen, 1))));
  EXPECT_EQ(seen, first);
}

TEST_P(Memory, BuffersCheckTheirRange) {
  DeviceBuffer buffer = this->buffer(100);
  const std::vector<std::byte> bytes(60);
  EXPECT_TRUE(buffer.upload(bytes, 40));
  EXPECT_EQ(buffer.upload(bytes, 41).code(), StatusCode::InvalidArgument);
}

} // namespace
} // namespace wavesmith
