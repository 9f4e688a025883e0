#include "runtime/verify/HostTensor.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"

namespace wavesmith {
namespace {

using ::testing::HasSubstr;

const TensorShape kShape = {5, 3, 8, 48, 16, 2}; // 8 of 16 elements used

TEST(HostTensor, ElementsAreTheSameWhateverTheStrides) {
  HostTensor padded(kShape, std::byte{0xff});
  HostTensor packed({5, 3, 8, 24, 8, 2}, std::byte{0xff});
  padded.fillNormal(DType::BF16, 3, 1);
  packed.fillNormal(DType::BF16, 3, 1);
  for (std::int64_t row = 0; row < 5; ++row)
    for (std::int64_t head = 0; head < 3; ++head)
      for (int i = 0; i < 8; ++i)
        EXPECT_EQ(padded.at<std::uint16_t>(row, head)[i], packed.at<std::uint16_t>(row, head)[i]);
  EXPECT_TRUE(std::isnan(bf16ToFloat(padded.at<std::uint16_t>(0, 0)[8])));
  EXPECT_FALSE(padded.findDamage("q"));
}

TEST(HostTensor, BothTypesRoundTheSameNumbers) {
  HostTensor bf16(kShape, std::byte{0xff}), f16(kShape, std::byte{0xff});
  bf16.fillNormal(DType::BF16, 3, 1);
  f16.fillNormal(DType::F16, 3, 1);
  for (std::int64_t row = 0; row < 5; ++row)
    for (std::int64_t head = 0; head < 3; ++head)
      for (int i = 0; i < 8; ++i) {
        const float exact = halfToFloat(f16.at<std::uint16_t>(row, head)[i]);
        // Half a unit of bf16's eight bits, and a unit of f16's eleven.
        EXPECT_NEAR(bf16ToFloat(bf16.at<std::uint16_t>(row, head)[i]), exact,
                    std::abs(exact) * (0x1p-8 + 0x1p-10));
      }
  EXPECT_TRUE(std::isnan(halfToFloat(f16.at<std::uint16_t>(0, 0)[8])));
}

TEST(HostTensor, Fp8UsesTheWholeFormatOfEachHead) {
  for (const Fp8Format format : {Fp8Format::E4M3Fnuz, Fp8Format::E4M3Ocp})
    for (const bool shared : {false, true}) {
      HostTensor codes({50, 3, 16, 96, 32, 1}, std::byte{fp8Nan(format)});
      HostTensor exact({50, 3, 16, 48, 16, 2}, std::byte{0xff});
      const std::vector<float> descales = codes.fillNormalFp8(format, shared, 3, 1);
      exact.fillNormal(DType::BF16, 3, 1);
      ASSERT_EQ(descales.size(), shared ? 1u : 3u);
      std::vector<double> largest(3);
      for (std::int64_t row = 0; row < 50; ++row)
        for (std::int64_t head = 0; head < 3; ++head)
          for (int i = 0; i < 16; ++i) {
            const double code = fp8ToDouble(format, codes.at<std::uint8_t>(row, head)[i]);
            const double wanted = bf16ToFloat(exact.at<std::uint16_t>(row, head)[i]);
            const double descale = descales[shared ? 0 : static_cast<std::size_t>(head)];
            // Half a unit in the last place of three mantissa bits, and of bf16's eight.
            EXPECT_NEAR(code * descale, wanted, std::abs(wanted) / 15 + descale * 0x1p-10);
            double &most = largest[static_cast<std::size_t>(head)];
            most = std::max(most, std::abs(code));
          }
      const double top = fp8Largest(format);
      EXPECT_EQ(*std::ranges::max_element(largest), top);
      if (!shared)
        EXPECT_THAT(largest, ::testing::Each(top));
      EXPECT_EQ(codes.at<std::uint8_t>(0, 0)[16], fp8Nan(format));
      EXPECT_FALSE(codes.findDamage("q"));
    }
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
