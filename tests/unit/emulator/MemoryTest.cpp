// Device memory: exact ranges, guards, sparseness, messages.

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/Emulator.h"
#include "emulator/Memory.h"

namespace wavesmith::emulator {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST(Memory, KeepsExactRanges) {
  auto device = Device::create({"gfx942"});
  ASSERT_TRUE(device);
  auto a = (*device)->allocate(100);
  ASSERT_TRUE(a);
  EXPECT_EQ(*a % 256, 0u);
  EXPECT_TRUE((*device)->write(*a, bytes(100, 1)));
  Status past = (*device)->write(*a + 1, bytes(100, 1));
  EXPECT_THAT(past.message(), HasSubstr("by 1 bytes"));
  auto range = (*device)->allocationOf(*a + 99);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, *a);
  EXPECT_EQ(range->second, 100u);
  EXPECT_THAT((*device)->allocationOf(*a + 100).status().message(), HasSubstr("0 bytes past"));
}

TEST(Memory, IsSparse) {
  auto device = Device::create({"gfx950"});
  ASSERT_TRUE(device);
  constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40;
  auto a = (*device)->allocate(kTebibyte);
  ASSERT_TRUE(a) << a.status().message();
  EXPECT_TRUE((*device)->write(*a + kTebibyte - 4, bytes(4, 7)));
  auto read = bytes(4, 0);
  EXPECT_TRUE((*device)->read(*a + kTebibyte - 4, read));
  EXPECT_EQ(read, bytes(4, 7));
}

TEST(Memory, ReportsUseAfterFree) {
  auto device = Device::create({"gfx942"});
  ASSERT_TRUE(device);
  auto a = (*device)->allocate(64);
  ASSERT_TRUE(a);
  EXPECT_TRUE((*device)->free(*a));
  auto buffer = bytes(4, 0);
  EXPECT_THAT((*device)->read(*a + 8, buffer).message(), HasSubstr("inside the freed allocation"));
  EXPECT_THAT((*device)->free(*a).message(), HasSubstr("freed before"));
}

TEST(Memory, TracksWrittenBytes) {
  Memory memory;
  auto a = memory.allocate(64, 256), b = memory.allocate(64, 256);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(memory.write(*a + 3, bytes(6, 1)));
  Allocation *allocation = memory.find(*a);
  EXPECT_EQ(allocation->written(*a, 16), 0x1f8u);
  EXPECT_TRUE(memory.fill(*b, std::byte{0}, 64));
  EXPECT_TRUE(memory.find(*b)->fullyWritten());
  // A copy of half-written bytes is half-written.
  EXPECT_TRUE(memory.copy(*b, *a, 16));
  EXPECT_EQ(memory.find(*b)->written(*b, 16), 0x1f8u);
  EXPECT_EQ(memory.find(*b)->written(*b + 16, 16), 0xffffu);
}

TEST(Memory, RefusesBadRequests) {
  auto device = Device::create({"gfx942"});
  ASSERT_TRUE(device);
  EXPECT_FALSE((*device)->allocate(0));
  EXPECT_FALSE((*device)->allocate(16, 3));
  EXPECT_FALSE((*device)->allocate(std::uint64_t{1} << 62));
  EXPECT_THAT(Device::create({"gfx90a"}).status().message(),
              HasSubstr("expected gfx942 or gfx950"));
}

TEST(Allocation, IsNeverUnwrittenWhereOthersLook) {
  constexpr std::uint64_t kBytes = 8 << 20;
  for (int round = 0; round < 20; ++round) {
    Memory memory;
    auto base = memory.allocate(kBytes, 256);
    ASSERT_TRUE(base);
    Allocation &allocation = *memory.find(*base);
    allocation.markWritten(*base, kBytes);
    std::atomic<bool> looks{false}, stops{false};
    int missed = 0;
    std::thread other([&] {
      while (!stops) {
        missed += !allocation.written(*base, 1);
        looks = true;
      }
    });
    while (!looks)
      ;
    allocation.markUnwritten(*base + kBytes - 1, 1);
    stops = true;
    other.join();
    ASSERT_EQ(missed, 0);
    EXPECT_FALSE(allocation.written(*base + kBytes - 1, 1));
    EXPECT_TRUE(allocation.written(*base + kBytes - 2, 1));
  }
}

} // namespace
} // namespace wavesmith::emulator
