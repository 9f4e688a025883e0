#include "runtime/verify/Half.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "runtime/verify/Element16.h"

namespace wavesmith {
namespace {

/// By the definition of the format.
double exactly(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, EveryValueRoundTrips) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const float value = halfToFloat(bits);
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(floatToHalf(value), bits | 0x200) << "quiet, with its payload";
      continue;
    }
    if ((bits & 0x7fff) == 0x7c00)
      EXPECT_TRUE(std::isinf(value));
    else
      EXPECT_EQ(value, exactly(bits));
    EXPECT_EQ(std::signbit(value), bits >> 15 != 0);
    EXPECT_EQ(floatToHalf(value), bits);
    EXPECT_EQ(doubleToHalf(static_cast<double>(value)), bits);
  }
}

TEST(Half, TiesGoToTheEvenOneAndTheirNeighboursToTheNearest) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const double tie = (exactly(bits) + exactly(static_cast<std::uint16_t>(bits + 1))) / 2;
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const std::uint16_t even = bits % 2 == 0 ? bits : next;
    ASSERT_EQ(floatToHalf(static_cast<float>(tie)), even) << bits;
    ASSERT_EQ(doubleToHalf(tie), even) << bits;
    ASSERT_EQ(doubleToHalf(-tie), even | 0x8000) << bits;
    // Closer to the tie than a float32 can be: rounding twice would take it for one.
    ASSERT_EQ(doubleToHalf(tie * (1 - 0x1p-45)), bits);
    ASSERT_EQ(doubleToHalf(tie * (1 + 0x1p-45)), next);
  }
}

TEST(Half, TheEndsOfTheRange) {
  EXPECT_EQ(doubleToHalf(65504), 0x7bff);
  EXPECT_EQ(doubleToHalf(65519.999999), 0x7bff);
  EXPECT_EQ(doubleToHalf(65520), 0x7c00);
  EXPECT_EQ(doubleToHalf(-1e300), 0xfc00);
  EXPECT_EQ(floatToHalf(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(doubleToHalf(0x1p-25), 0);
  EXPECT_EQ(doubleToHalf(0x1.000001p-25), 1);
  EXPECT_EQ(doubleToHalf(-1e-300), 0x8000);
  // A signalling NaN whose payload sits in the dropped bits must not become infinity.
  EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(std::bit_cast<float>(0x7f800001u)))));
}

TEST(Element16, IsOfItsType) {
  EXPECT_EQ(doubleToElement(DType::BF16, 1.5), 0x3fc0);
  EXPECT_EQ(doubleToElement(DType::F16, 1.5), 0x3e00);
  EXPECT_EQ(floatToElement(DType::BF16, -2), 0xc000);
  EXPECT_EQ(floatToElement(DType::F16, -3), 0xc200);
  EXPECT_EQ(elementToFloat(DType::BF16, 0x4080), 4);
  EXPECT_EQ(elementToFloat(DType::F16, 0x4400), 4);
}

} // namespace
} // namespace wavesmith
