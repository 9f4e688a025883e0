#include "runtime/verify/Float8.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

constexpr Fp8Format kFormats[] = {Fp8Format::E4M3Fnuz, Fp8Format::E4M3Ocp};

TEST(Float8, EveryCodeRoundTrips) {
  for (const Fp8Format format : kFormats)
    for (int i = 0; i < 256; ++i) {
      const auto code = static_cast<std::uint8_t>(i);
      const double value = fp8ToDouble(format, code);
      EXPECT_EQ(std::isnan(value), isFp8Nan(format, code)) << i;
      if (std::isnan(value))
        EXPECT_TRUE(isFp8Nan(format, doubleToFp8(format, value)));
      else
        EXPECT_EQ(doubleToFp8(format, value), code) << i;
    }
}

TEST(Float8, TheFormatsDiffer) {
  EXPECT_EQ(fp8ToDouble(Fp8Format::E4M3Fnuz, 0x40), 1);
  EXPECT_EQ(fp8ToDouble(Fp8Format::E4M3Ocp, 0x38), 1);
  EXPECT_EQ(fp8ToDouble(Fp8Format::E4M3Fnuz, 0x7f), 240);
  EXPECT_EQ(fp8ToDouble(Fp8Format::E4M3Ocp, 0x7e), 448);
  EXPECT_EQ(fp8ToDouble(Fp8Format::E4M3Fnuz, 0x01), 0x1p-10);
  EXPECT_EQ(fp8ToDouble(Fp8Format::E4M3Ocp, 0x01), 0x1p-9);
  EXPECT_FALSE(isFp8Nan(Fp8Format::E4M3Fnuz, 0xff));
  EXPECT_FALSE(isFp8Nan(Fp8Format::E4M3Ocp, 0x80)); // minus zero
  EXPECT_TRUE(std::signbit(fp8ToDouble(Fp8Format::E4M3Ocp, 0x80)));
  for (const Fp8Format format : kFormats) {
    EXPECT_TRUE(isFp8Nan(format, fp8Nan(format)));
    EXPECT_EQ(fp8ToDouble(format, doubleToFp8(format, INFINITY)), fp8Largest(format));
    EXPECT_EQ(fp8ToDouble(format, doubleToFp8(format, -1e30)), -fp8Largest(format));
  }
  EXPECT_EQ(doubleToFp8(Fp8Format::E4M3Fnuz, -0.0), 0);
  EXPECT_EQ(doubleToFp8(Fp8Format::E4M3Fnuz, -1e-9), 0);
  EXPECT_EQ(doubleToFp8(Fp8Format::E4M3Ocp, -1e-9), 0x80);
}

/// Against the nearest of all values, ties to the even code.
TEST(Float8, RoundsToNearestEven) {
  for (const Fp8Format format : kFormats)
    for (int code = 0; code < (format == Fp8Format::E4M3Fnuz ? 0x7f : 0x7e); ++code) {
      const double low = fp8ToDouble(format, static_cast<std::uint8_t>(code));
      const double high = fp8ToDouble(format, static_cast<std::uint8_t>(code + 1));
      ASSERT_LT(low, high);
      const double middle = (low + high) / 2;
      EXPECT_EQ(doubleToFp8(format, middle), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(doubleToFp8(format, std::nextafter(middle, 0)), code);
      EXPECT_EQ(doubleToFp8(format, std::nextafter(middle, 1e9)), code + 1);
    }
}

} // namespace
} // namespace wavesmith
