#include "runtime/verify/BFloat16.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

TEST(BFloat16, EveryValueRoundTrips) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bf16ToFloat(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(value))));
      continue;
    }
    EXPECT_EQ(floatToBf16(value), bits);
    EXPECT_EQ(doubleToBf16(static_cast<double>(value)), bits);
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f808000u)), 0x3f80); // tie to even, down
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f818000u)), 0x3f82); // tie to even, up
  EXPECT_EQ(floatToBf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(floatToBf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(floatToBf16(-0.0f), 0x8000);
  // A signalling NaN whose payload sits in the dropped bits must not become infinity.
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(BFloat16, DoublesRoundOnce) {
  // Just above a bf16 tie, by less than a float32 can hold: rounding twice would go down.
  EXPECT_EQ(doubleToBf16(1 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(doubleToBf16(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(doubleToBf16(-(1 + 0x1p-8 + 0x1p-40)), 0xbf81);
  EXPECT_EQ(doubleToBf16(1 + 3 * 0x1p-8 - 0x1p-40), 0x3f81);
  EXPECT_EQ(doubleToBf16(1e300), 0x7f80);
  EXPECT_EQ(doubleToBf16(-1e-300), 0x8000);
}

TEST(BFloat16, DoublesRoundToTheNearest) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 100000; ++i) {
    const double value = normal(random);
    const std::uint16_t bits = doubleToBf16(value);
    const double here = std::abs(static_cast<double>(bf16ToFloat(bits)) - value);
    for (int step : {-1, 1})
      EXPECT_LE(here,
                std::abs(static_cast<double>(bf16ToFloat(static_cast<std::uint16_t>(bits + step))) -
                         value));
  }
}

} // namespace
} // namespace wavesmith
