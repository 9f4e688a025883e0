#include "runtime/verify/HostTensor.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/verify/BFloat16.h"

namespace wavesmith {
namespace {

using ::testing::HasSubstr;

const TensorShape kShape = {5, 3, 8, 48, 16, 2}; // 8 of 16 elements used

TEST(HostTensor, ElementsAreTheSameWhateverTheStrides) {
  HostTensor padded(kShape, std::byte{0xff});
  HostTensor packed({5, 3, 8, 24, 8, 2}, std::byte{0xff});
  padded.fillNormalBf16(3, 1);
  packed.fillNormalBf16(3, 1);
  for (std::int64_t row = 0; row < 5; ++row)
    for (std::int64_t head = 0; head < 3; ++head)
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(padded.at<std::uint16_t>(row, head)[i], packed.at<std::uint16_t>(row, head)[i]);
  EXPECT_TRUE(std::isnan(bf16ToFloat(padded.at<std::uint16_t>(0, 0)[8])));
  EXPECT_FALSE(padded.findDamage("q"));
}

TEST(HostTensor, FindsEveryDamagedByteAndNoElement) {
  HostTensor tensor(kShape, std::byte{0xa5});
  for (std::size_t i = 0; i < tensor.bytes().size(); ++i) {
    tensor.bytes()[i] ^= std::byte{1};
    const std::int64_t offset = static_cast<std::int64_t>(i) - HostTensor::originOffset();
    const bool element =
        offset >= 0 && offset < kShape.extentBytes() && offset % 96 / 32 < 3 && offset % 32 < 16;
    EXPECT_EQ(tensor.findDamage("out").has_value(), !element) << i;
    tensor.bytes()[i] ^= std::byte{1};
  }
}

TEST(HostTensor, DamageSaysWhere) {
  const auto damageAt = [](std::int64_t offset) {
    HostTensor tensor(kShape, std::byte{0xa5});
    tensor.bytes()[static_cast<std::size_t>(HostTensor::originOffset() + offset)] = std::byte{0};
    return *tensor.findDamage("out");
  };
  EXPECT_THAT(damageAt(-3), HasSubstr("out: canary overwritten 3 bytes before the tensor"));
  EXPECT_THAT(damageAt(96 + 20), HasSubstr("in the padding of row 1, byte 20"));
  EXPECT_THAT(damageAt(kShape.extentBytes()), HasSubstr("0 bytes after the tensor"));
}

TEST(HostTensor, EmptyTensorsHaveGuards) {
  const HostTensor tensor({0, 3, 8, 24, 8, 2}, std::byte{0xa5});
  EXPECT_EQ(tensor.bytes().size(), 2u * kGuardBytes);
  EXPECT_FALSE(tensor.findDamage("out"));
}

} // namespace
} // namespace wavesmith
