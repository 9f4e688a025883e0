// Conversions that the rows share, exhaustively over the narrow side.

#include <cmath>

#include <gtest/gtest.h>

#include "emulator/isa/Types.h"
#include "tests/unit/emulator/ReferenceKernel.h"

namespace wavesmith::emulator {
namespace {

#include "emulator/lanes/Float.h"
#include "emulator/lanes/SmallFloat.h"

TEST(SmallFloat, Float8ReadsAndWritesEveryCode) {
  for (bool ocp : {false, true})
    for (u32 code = 0; code < 256; ++code) {
      float value = fromFloat8<false>(code, ocp);
      bool isNanCode = ocp ? (code & 0x7f) == 0x7f : code == 0x80;
      if (isNanCode) {
        EXPECT_TRUE(std::isnan(value)) << code;
        continue;
      }
      EXPECT_EQ(value, test::fp8ToFloat(static_cast<u8>(code), ocp)) << code;
      EXPECT_EQ(toFloat8<false>(value, ocp, false), code) << "ocp " << ocp;
      // Half a step up rounds to even.
      u32 next = code + 1;
      if ((next & 0x7f) < (ocp ? 0x7fu : 0x80u) && (code & 0x80) == 0) {
        float middle = (value + fromFloat8<false>(next, ocp)) / 2;
        EXPECT_EQ(toFloat8<false>(middle, ocp, false), code & 1 ? next : code);
      }
    }
}

TEST(SmallFloat, Float8Overflow) {
  EXPECT_EQ(toFloat8<false>(247.9f, false, false), 0x7fu);
  EXPECT_EQ(toFloat8<false>(248.0f, false, false), 0x80u);
  EXPECT_EQ(toFloat8<false>(1e9f, false, true), 0x7fu);
  EXPECT_EQ(toFloat8<false>(-1e9f, false, true), 0xffu);
  EXPECT_EQ(toFloat8<false>(-0.0f, false, false), 0u);
  EXPECT_EQ(toFloat8<false>(-0.0f, true, false), 0x80u);
  EXPECT_EQ(toFloat8<false>(463.9f, true, false), 0x7eu);
  EXPECT_EQ(toFloat8<false>(480.0f, true, false), 0x7fu);
  EXPECT_EQ(toFloat8<false>(480.0f, true, true), 0x7eu);
  EXPECT_EQ(toFloat8<true>(1e9f, true, false), 0x7cu);
  EXPECT_EQ(toFloat8<true>(57344.0f, false, false), 0x7fu);
}

TEST(SmallFloat, Bf8RoundTrips) {
  for (bool ocp : {false, true})
    for (u32 code = 0; code < 256; ++code) {
      float value = fromFloat8<true>(code, ocp);
      if (!std::isnan(value)) {
        EXPECT_EQ(toFloat8<true>(value, ocp, false), code) << "ocp " << ocp;
      }
    }
}

TEST(SmallFloat, HalfRoundTripsAndRoundsToEven) {
  for (u32 code = 0; code < 0x10000; ++code) {
    float value = halfToFloat({static_cast<u16>(code)});
    int exponent = code >> 10 & 31, mantissa = code & 0x3ff;
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), mantissa != 0);
      continue;
    }
    float wanted =
        exponent ? std::ldexp(1024.0f + mantissa, exponent - 25) : std::ldexp(float(mantissa), -24);
    ASSERT_EQ(value, code & 0x8000 ? -wanted : wanted) << code;
    ASSERT_EQ(floatToHalf(value).bits, code);
    ASSERT_EQ(floatToHalfTowardZero(value).bits, code);
    if (code < 0x7bff) {
      float middle = (value + halfToFloat({static_cast<u16>(code + 1)})) / 2;
      ASSERT_EQ(floatToHalf(middle).bits, code & 1 ? code + 1 : code);
      ASSERT_EQ(floatToHalfTowardZero(middle).bits, code);
    }
  }
  EXPECT_EQ(floatToHalf(65520.0f).bits, 0x7c00);
  EXPECT_EQ(floatToHalf(65519.0f).bits, 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f, true).bits, 0x7bff);
}

TEST(SmallFloat, TinyFormats) {
  for (u32 code = 0; code < 16; ++code)
    EXPECT_EQ((toTiny<2, 1>(fromFp4(code))), code);
  EXPECT_EQ(fromFp4(7), 6.0f);
  for (u32 code = 0; code < 64; ++code) {
    EXPECT_EQ((toTiny<2, 3>(fromFp6(code))), code);
    EXPECT_EQ((toTiny<3, 2>(fromBf6(code))), code);
  }
  EXPECT_EQ(fromFp6(31), 7.5f);
  EXPECT_EQ(fromBf6(31), 28.0f);
}

TEST(SmallFloat, ApproximationsStayWithinOneUlp) {
  auto ulps = [](float actual, double wanted) {
    int exponent;
    std::frexp(wanted, &exponent);
    return std::fabs(actual - wanted) / std::ldexp(1.0, exponent - 24);
  };
  for (int i = -126 * 64; i < 127 * 64; ++i) {
    float x = i / 64.0f + 0.0031f;
    EXPECT_LE(ulps(exp2Approx(x), std::exp2(double(x))), 1.0) << x;
  }
  for (int i = 1; i < 100000; ++i) {
    float x = i * 0.00137f;
    EXPECT_LE(ulps(log2Approx(x), std::log2(double(x))), 1.0) << x;
  }
  EXPECT_EQ(exp2Approx(-INFINITY), 0.0f);
  EXPECT_EQ(exp2Approx(INFINITY), INFINITY);
  EXPECT_EQ(exp2Approx(-127.0f), 0.0f);
  EXPECT_EQ(log2Approx(0.0f), -INFINITY);
  EXPECT_TRUE(std::isnan(log2Approx(-1.0f)));
}

} // namespace
} // namespace wavesmith::emulator
