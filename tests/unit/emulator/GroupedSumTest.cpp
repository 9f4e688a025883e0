// Matrix sums as CDNA3's matrix cores form them, against the published model written with doubles,
// and against cases worked out by hand where float32 in order of k gives something else.

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "emulator/lanes/LaneSet.h"
#include "tests/emulator/conversion/ScalarModel.h"

namespace wavesmith::emulator {
namespace {

struct Kind {
  const char *name;
  MatrixType type;
  u16 k;
  int bits, fraction, minExponent, group;
  bool ocp;
};
const Kind kKinds[] = {{"f16", MatrixType::F16, 16, 16, 10, -14, 8, false},
                       {"bf16", MatrixType::Bf16, 16, 16, 7, -126, 8, false},
                       {"fp8", MatrixType::Fp8, 32, 8, 3, -7, 16, false},
                       {"bf8", MatrixType::Bf8, 32, 8, 2, -15, 16, false},
                       {"fp8ocp", MatrixType::Fp8, 32, 8, 3, -6, 16, true},
                       {"bf8ocp", MatrixType::Bf8, 32, 8, 2, -14, 16, true},
                       {"xf32", MatrixType::Xf32, 8, 32, 10, -126, 4, false}};

double decode(const Kind &kind, u32 code) {
  using model::Format;
  switch (kind.type) {
  case MatrixType::F16:
    return model::decode(Format::F16, code);
  case MatrixType::Bf16:
    return model::decode(Format::Bf16, code);
  case MatrixType::Fp8:
    return model::decode(kind.ocp ? Format::Fp8Ocp : Format::Fp8Fnuz, code);
  case MatrixType::Bf8:
    return model::decode(kind.ocp ? Format::Bf8Ocp : Format::Bf8Fnuz, code);
  default:
    return std::bit_cast<float>(code & 0xffffe000);
  }
}

/// A 16 by 16 product: A and B by row (column) and k, D and C by row and column.
struct Product {
  const Kind &kind;
  std::vector<u32> a, b;
  std::vector<float> c;
  explicit Product(const Kind &k) : kind(k), a(16 * k.k), b(16 * k.k), c(256) {}

  std::vector<float> run(bool grouped) const {
    // Lane m + 16 * g holds k from g * items on.
    int items = kind.k / 4;
    std::vector<u32> registers[2] = {std::vector<u32>(8 * 64), std::vector<u32>(8 * 64)};
    for (int side = 0; side < 2; ++side)
      for (int line = 0; line < 16; ++line)
        for (int k = 0; k < kind.k; ++k) {
          int bit = k % items * kind.bits;
          registers[side][bit / 32 * 64 + line + 16 * (k / items)] |=
              (side ? b : a)[line * kind.k + k] << (bit % 32);
        }
    std::vector<u32> d(4 * 64);
    auto at = [](int m, int n) { return m % 4 * 64 + n + 16 * (m / 4); };
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n)
        d[at(m, n)] = std::bit_cast<u32>(c[16 * m + n]);
    MatrixIo io{};
    io.a = registers[0].data();
    io.b = registers[1].data();
    io.c = io.d = d.data();
    io.shape = {16, 16, kind.k, 1, kind.type, kind.type, false};
    io.ocp = kind.ocp;
    io.grouped = grouped;
    laneSet().matrix(io);
    std::vector<float> result(256);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n)
        result[16 * m + n] = std::bit_cast<float>(d[at(m, n)]);
    return result;
  }
};

// The model, after microsoft/MMA-Sim's description: significand and exponent of a number, a fused
// sum of products cut at 24 bits, the meeting with the accumulator.
struct Number {
  double significand;
  int exponent;
};
Number split(double x, int minExponent) {
  if (x == 0)
    return {0, -999};
  int e = 0;
  double s = 2 * std::frexp(x, &e);
  if (--e < minExponent) {
    s = std::ldexp(s, e - minExponent);
    e = minExponent;
  }
  return {s, e};
}
Number fusedSum(const std::vector<Number> &products) {
  int largest = -5000;
  for (const Number &p : products)
    largest = std::max(largest, p.exponent);
  double sum = 0;
  for (const Number &p : products)
    sum += std::ldexp(std::trunc(std::ldexp(p.significand, 24 + p.exponent - largest)), -24);
  return {sum, largest};
}
double cutDown(Number x, int bits, int largest) {
  return std::ldexp(std::floor(std::ldexp(x.significand, bits + x.exponent - largest)), -bits);
}
float modelDot(const Kind &kind, const u32 *a, const u32 *b, float c) {
  float sum = c;
  for (int first = 0; first < kind.k; first += kind.group) {
    std::vector<Number> products[2];
    double exact = sum;
    bool above = false, below = false;
    for (int k = first; k < first + kind.group; ++k) {
      double x = decode(kind, a[k]), y = decode(kind, b[k]);
      exact += x * y;
      above |= x * y >= 0x1p128;
      below |= x * y <= -0x1p128;
      Number p = split(x, kind.minExponent), q = split(y, kind.minExponent);
      products[kind.bits == 8 && k % 2].push_back(
          {p.significand * q.significand, p.exponent + q.exponent});
    }
    if (!std::isfinite(exact)) {
      sum = static_cast<float>(exact);
      continue;
    }
    if (above || below) { // infinities of their own
      sum = above && below ? NAN : (above ? INFINITY : -INFINITY);
      continue;
    }
    Number s = fusedSum(products[0]), start = split(sum, -126);
    if (kind.bits == 8) {
      Number odd = fusedSum(products[1]);
      int largest = std::max(s.exponent, odd.exponent);
      s = {cutDown(s, 24, largest) + cutDown(odd, 24, largest), largest};
    }
    int largest = std::max(s.exponent, start.exponent);
    double total = cutDown(s, 31, largest);
    if (kind.bits != 8 || start.exponent >= largest - 25)
      total += cutDown(start, 24, largest);
    sum = static_cast<float>(std::ldexp(total, largest));
  }
  return sum;
}

class GroupedSum : public testing::TestWithParam<Kind> {};

TEST_P(GroupedSum, IsThePublishedModel) {
  const Kind &kind = GetParam();
  std::mt19937 random(17);
  int differ = 0;
  for (int round = 0; round < 40; ++round) {
    Product product(kind);
    for (auto *side : {&product.a, &product.b})
      for (u32 &code : *side) {
        do { // rounds differ in how far apart exponents are
          code = static_cast<u32>(random());
          if (kind.bits == 32)
            code = (code & 0x807fffff) | (127 + code % (1 + 4 * round) - 2 * round) << 23;
          else if (kind.type == MatrixType::Bf16)
            code = (code & 0x807f) | (127 + code % (1 + 4 * round) - 2 * round) << 7;
          else
            code &= (1u << kind.bits) - 1;
        } while (!std::isfinite(decode(kind, code)) && random() % 512);
        if (random() % 16 == 0)
          code = 0;
      }
    for (float &c : product.c)
      c = std::ldexp(static_cast<float>(random() % 65536) - 32768,
                     static_cast<int>(random() % (8 + 2 * round)) - 20 - round);
    std::vector<float> grouped = product.run(true), plain = product.run(false);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        int at = 16 * m + n;
        float right = modelDot(kind, &product.a[m * kind.k], &product.b[n * kind.k], product.c[at]);
        if (std::isnan(right))
          ASSERT_TRUE(std::isnan(grouped[at]));
        else
          ASSERT_EQ(std::bit_cast<u32>(grouped[at]), std::bit_cast<u32>(right))
              << "round " << round << ", element " << m << ", " << n;
        differ += std::bit_cast<u32>(grouped[at]) != std::bit_cast<u32>(plain[at]);
      }
  }
  EXPECT_GT(differ, 100) << "the two ways of adding should not be the same";
}

INSTANTIATE_TEST_SUITE_P(Types, GroupedSum, testing::ValuesIn(kKinds),
                         [](const auto &info) { return std::string(info.param.name); });

/// The first element of a product of which only row 0 and column 0 are not zero.
float dot(const Kind &kind, const std::vector<std::pair<u32, u32>> &factors, float c,
          bool grouped) {
  Product product(kind);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    product.a[k] = factors[k].first;
    product.b[k] = factors[k].second;
  }
  product.c[0] = c;
  return product.run(grouped)[0];
}

TEST(GroupedSumByHand, SmallProductsOfAGroupAddUpBeforeTheyAreRounded) {
  // 1 and seven times 2^-24. In order every one is a tie and goes to the even 1; in a group they
  // keep their 24 bits: 1 + 3.5 * 2^-23, a tie that goes to 1 + 4 * 2^-23.
  std::vector<std::pair<u32, u32>> factors(8, {0x3980, 0x3980}); // bf16 2^-12
  factors[0] = {0x3f80, 0x3f80};
  EXPECT_EQ(dot(kKinds[1], factors, 0, false), 1.0f);
  EXPECT_EQ(dot(kKinds[1], factors, 0, true), 1.0f + 0x1p-21f);
}

TEST(GroupedSumByHand, BitsBelowTheTwentyFourthAreCutTowardZero) {
  // 1 and seven times 1.5 * 2^-25: nothing of those is left in a group. Exact: 1 + 1.3 * 2^-22.
  std::vector<std::pair<u32, u32>> factors(8, {0x3940, 0x3980}); // 1.5 * 2^-13 and 2^-12
  factors[0] = {0x3f80, 0x3f80};
  EXPECT_EQ(dot(kKinds[1], factors, 0, true), 1.0f);
  // Minus signs too: not rounded down.
  for (std::size_t i = 1; i < 8; ++i)
    factors[i].first |= 0x8000;
  EXPECT_EQ(dot(kKinds[1], factors, 0, true), 1.0f);
}

TEST(GroupedSumByHand, TheAccumulatorIsRoundedDown) {
  // -2^-30 beside a 1 becomes -2^-24. In order it would vanish.
  std::vector<std::pair<u32, u32>> one = {{0x3c00, 0x3c00}}; // f16
  EXPECT_EQ(dot(kKinds[0], one, -0x1p-30f, false), 1.0f);
  EXPECT_EQ(dot(kKinds[0], one, -0x1p-30f, true), 1.0f - 0x1p-24f);
  EXPECT_EQ(dot(kKinds[0], one, 0x1p-30f, true), 1.0f);
}

TEST(GroupedSumByHand, EightBitSumsDropASmallAccumulator) {
  std::vector<std::pair<u32, u32>> one = {{0x40, 0x40}}; // fp8 FNUZ 1.0
  EXPECT_EQ(dot(kKinds[2], one, -0x1p-25f, true), 1.0f - 0x1p-24f) << "still counts";
  EXPECT_EQ(dot(kKinds[2], one, -0x1p-26f, true), 1.0f) << "does not";
}

TEST(GroupedSumByHand, AGroupOfXf32IsFour) {
  // Products 2^-24 behind the first: three are in its group, the fourth starts the next.
  std::vector<std::pair<u32, u32>> factors(5, {0x39800000, 0x39800000});
  factors[0] = {0x3f800000, 0x3f800000};
  // 1 + 3 * 2^-24 is a tie between 1 + 2^-23 and 1 + 2^-22: the even one, then one more is lost
  // in a tie again.
  EXPECT_EQ(dot(kKinds[6], factors, 0, true), 1.0f + 0x1p-22f);
  EXPECT_EQ(dot(kKinds[6], factors, 0, false), 1.0f);
}

} // namespace
} // namespace wavesmith::emulator
