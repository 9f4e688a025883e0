#include "runtime/verify/Quantized.h"

#include <bit>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/spec/Rotation.h"
#include "runtime/verify/Distribution.h"
#include "runtime/verify/Element16.h"
#include "runtime/verify/Float8.h"

namespace wavesmith {
namespace {

TEST(RotateRow, IsTheSignedHadamardMatrixOfEachBlock) {
  // Column j of the matrix: +-1/sqrt(n), the parity of i & j, and the sign of j.
  for (const std::size_t j : {0u, 77u, 128u, 191u}) {
    std::vector<double> row(192, 0.0);
    row[j] = 3;
    rotateRow(row, 11);
    const std::size_t begin = j < 128 ? 0 : 128, size = j < 128 ? 128 : 64;
    const bool negated = rotationNegates(11, static_cast<std::uint32_t>(j));
    for (std::size_t i = 0; i < row.size(); ++i) {
      double expected = 0;
      if (i >= begin && i < begin + size) {
        const bool odd = std::popcount((i - begin) & (j - begin)) % 2 != 0;
        expected = (odd != negated ? -3 : 3) / std::sqrt(static_cast<double>(size));
      }
      EXPECT_DOUBLE_EQ(row[i], expected) << i << " " << j;
    }
  }
  std::vector<double> plain = {1, 2, 3, 4};
  rotateRow(plain, 0);
  EXPECT_THAT(plain, ::testing::ElementsAre(1, 2, 3, 4));
}

struct Codes : ::testing::TestWithParam<std::pair<Fp8Format, DType>> {
  const Fp8Format format = GetParam().first;
  const DType dtype = GetParam().second;
  TensorShape shape{6, 2, 192, 2 * 200 + 8, 200, 2};
  HostTensor input{shape, std::byte{0xff}};
  TensorShape packed{6, 2, 192, 2 * 192, 192, 1};
  HostTensor codes{packed, std::byte{0}};

  Codes() { input.fillNormal(dtype, 1, 0); }
  std::vector<float> quantise(std::uint32_t seed) {
    std::vector<float> descales = descalesOf(input, dtype, seed, false, format);
    for (std::int64_t row = 0; row < 6; ++row)
      for (std::int64_t head = 0; head < 2; ++head) {
        std::vector<double> values(192);
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] =
              static_cast<double>(elementToFloat(dtype, input.at<std::uint16_t>(row, head)[i]));
        rotateRow(values, seed);
        for (std::size_t i = 0; i < values.size(); ++i)
          codes.at<std::uint8_t>(row, head)[i] = doubleToFp8(
              format, values[i] / static_cast<double>(descales[static_cast<std::size_t>(head)]));
      }
    return descales;
  }
};

TEST_P(Codes, NearestOnesAreRightAndEveryOtherIsWrong) {
  for (const std::uint32_t seed : {0u, 5u}) {
    const std::vector<float> descales = quantise(seed);
    CodeReport report = compareCodes(input, dtype, seed, format, codes, descales);
    EXPECT_EQ(report.elements, 6 * 2 * 192);
    EXPECT_EQ(report.wrong, 0);
    EXPECT_GT(report.relRms, 0.02);
    EXPECT_LT(report.relRms, 0.03);
    // The neighbour of a code, a NaN, and another seed.
    std::uint8_t &code = codes.at<std::uint8_t>(4, 1)[100];
    const std::uint8_t right = code;
    code = static_cast<std::uint8_t>((right & 0x7f) < 2 ? right + 4 : right - 1);
    report = compareCodes(input, dtype, seed, format, codes, descales);
    EXPECT_EQ(report.wrong, 1);
    EXPECT_EQ(report.first.row, 4);
    EXPECT_EQ(report.first.head, 1);
    code = fp8Nan(format);
    EXPECT_EQ(compareCodes(input, dtype, seed, format, codes, descales).wrong, 1);
    code = right;
    EXPECT_GT(compareCodes(input, dtype, seed + 1, format, codes, descales).wrong, 2000);
  }
}

TEST_P(Codes, ASharedDescaleIsOfTheLargestHead) {
  const std::vector<float> each = descalesOf(input, dtype, 3, false, format);
  EXPECT_THAT(descalesOf(input, dtype, 3, true, format),
              ::testing::ElementsAre(std::max(each[0], each[1])));
  const HostTensor zeros({2, 1, 64, 64, 64, 2}, std::byte{0});
  EXPECT_THAT(descalesOf(zeros, dtype, 0, false, format), ::testing::ElementsAre(1.0f));
}

INSTANTIATE_TEST_SUITE_P(Formats, Codes,
                         ::testing::Values(std::pair{Fp8Format::E4M3Fnuz, DType::BF16},
                                           std::pair{Fp8Format::E4M3Ocp, DType::BF16},
                                           std::pair{Fp8Format::E4M3Fnuz, DType::F16},
                                           std::pair{Fp8Format::E4M3Ocp, DType::F16}));

struct Moments {
  double square = 0, fourth = 0;
};
Moments momentsOf(DType dtype, const HostTensor &tensor, std::int64_t channel = -1) {
  Moments moments;
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < tensor.shape().rows; ++row)
    for (std::int64_t i = 0; i < tensor.shape().dim; ++i) {
      if (channel >= 0 && i != channel)
        continue;
      const auto value =
          static_cast<double>(elementToFloat(dtype, tensor.at<std::uint16_t>(row, 0)[i]));
      moments.square += value * value;
      moments.fourth += value * value * value * value;
      ++count;
    }
  return {moments.square / static_cast<double>(count), moments.fourth / static_cast<double>(count)};
}

struct Distributions : ::testing::TestWithParam<DType> {};

TEST_P(Distributions, AreWhatTheirNamesSay) {
  const DType dtype = GetParam();
  AttentionProblem problem;
  problem.dtype = dtype;
  problem.lengths = {{64, 256}, {0, 3}, {32, 700}};
  const CheckedProblem checked = *checkProblem(problem);
  for (const std::string_view name : distributionNames()) {
    const Distribution distribution = *parseDistribution(name);
    EXPECT_EQ(distributionName(distribution), name);
    HostTensor q(checked.q, std::byte{0xff}), k(checked.k, std::byte{0xff}),
        v(checked.v, std::byte{0xff});
    q.fillNormal(dtype, 4, 0);
    k.fillNormal(dtype, 4, 1);
    v.fillNormal(dtype, 4, 2);
    const HostTensor plain = k;
    applyDistribution(distribution, checked, 4, q, k, v);
    EXPECT_FALSE(k.findDamage("k"));
    const Moments keys = momentsOf(dtype, k), values = momentsOf(dtype, v);
    switch (distribution) {
    case Distribution::Normal:
      EXPECT_EQ(k.elements(), plain.elements());
      EXPECT_NEAR(keys.square, 1, 0.02);
      EXPECT_NEAR(keys.fourth, 3, 0.1);
      break;
    case Distribution::HeavyTail: // variance 3; the fourth moment does not exist
      EXPECT_NEAR(keys.square, 3, 0.6);
      EXPECT_GT(keys.fourth, 100);
      EXPECT_NEAR(values.square, 3, 0.6);
      break;
    case Distribution::OutlierChannels:
      EXPECT_NEAR(momentsOf(dtype, k, 80).square, 400, 80);
      EXPECT_NEAR(momentsOf(dtype, k, 81).square, 1, 0.2);
      EXPECT_NEAR(momentsOf(dtype, q, 80).square, 400, 200);
      EXPECT_NEAR(values.square, 1, 0.02);
      break;
    case Distribution::Needle: {
      // The needle's score stands ln(keys) above the others' on average.
      const auto score = [&](std::int64_t row, std::int64_t key) {
        double sum = 0;
        for (std::int64_t i = 0; i < 192; ++i)
          sum += static_cast<double>(elementToFloat(dtype, q.at<std::uint16_t>(row, 0)[i])) *
                 static_cast<double>(elementToFloat(dtype, k.at<std::uint16_t>(key, 0)[i]));
        return sum / std::sqrt(192.0);
      };
      double needle = 0;
      for (std::int64_t row = 64; row < 96; ++row)
        needle += score(row, 259 + 700 / 3) / 32;
      EXPECT_NEAR(needle, std::log(700), 1.5);
      std::int64_t changed = 0;
      for (std::int64_t row = 0; row < checked.k.rows; ++row)
        changed += !std::equal(k.at<std::uint16_t>(row, 0), k.at<std::uint16_t>(row, 0) + 192,
                               plain.at<std::uint16_t>(row, 0));
      EXPECT_EQ(changed, 3) << "one key of each sequence";
      break;
    }
    case Distribution::Faint: {
      std::int64_t none = 0;
      for (std::int64_t row = 0; row < checked.v.rows; ++row) {
        const auto *value = v.at<std::uint16_t>(row, 0), *key = k.at<std::uint16_t>(row, 0);
        const bool isNone =
            std::all_of(value, value + 128, [](auto bits) { return (bits & 0x7fff) == 0; });
        none += isNone;
        const auto score = [&](std::uint16_t one, std::uint16_t other) {
          return static_cast<double>(elementToFloat(dtype, one)) *
                 static_cast<double>(elementToFloat(dtype, other)) / std::sqrt(192.0);
        };
        EXPECT_NEAR(score(*q.at<std::uint16_t>(5, 0), *key), isNone ? 19 * std::log(2.0) : 0, 0.05);
      }
      EXPECT_EQ(none, 3) << "one key of each sequence";
      EXPECT_NEAR(std::sqrt(values.square), 1024, 20);
      break;
    }
    case Distribution::Drift: {
      const auto grown = [&](std::int64_t row) {
        return elementToFloat(dtype, *k.at<std::uint16_t>(row, 0)) /
               elementToFloat(dtype, *plain.at<std::uint16_t>(row, 0));
      };
      EXPECT_EQ(grown(0), 1) << "each sequence's first key";
      EXPECT_EQ(grown(259), 1);
      EXPECT_NEAR(grown(259 + 600), 1 + 600 / 4096.0, 0.01);
      EXPECT_NEAR(momentsOf(dtype, q).square,
                  (64 / std::pow(1 + 224 / 4096.0, 2) + 32 / std::pow(1 + 684 / 4096.0, 2)) / 96,
                  0.03);
      break;
    }
    }
  }
  EXPECT_EQ(parseDistribution("flat").status().message(),
            "\"flat\" is no distribution; known: normal, heavy-tail, outlier-channels, needle, "
            "faint, drift");
}

INSTANTIATE_TEST_SUITE_P(Types, Distributions, ::testing::Values(DType::BF16, DType::F16));

} // namespace
} // namespace wavesmith
