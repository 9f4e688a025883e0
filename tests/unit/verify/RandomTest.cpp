#include "runtime/verify/Random.h"

#include <cmath>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

TEST(Random, IsTheSameEverywhere) {
  EXPECT_EQ(randomBits(1, 2, 3), randomBits(1, 2, 3));
  EXPECT_NE(randomBits(1, 2, 3), randomBits(2, 2, 3));
  EXPECT_NE(randomBits(1, 2, 3), randomBits(1, 3, 3));
  EXPECT_NE(randomBits(1, 2, 3), randomBits(1, 2, 4));
  // Frozen: a change would silently change the data of every test and report.
  EXPECT_EQ(randomBits(1, 0, 0), 7982734928498899980u);
}

TEST(Random, NormalsHaveTheRightMoments) {
  constexpr int kPairs = 500000;
  double sum = 0, squares = 0, fourth = 0, product = 0, largest = 0;
  for (int i = 0; i < kPairs; ++i) {
    const NormalPair pair = randomNormals(42, 7, static_cast<std::uint64_t>(i));
    product += pair.first * pair.second;
    for (double x : {pair.first, pair.second}) {
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
      largest = std::max(largest, std::abs(x));
    }
  }
  constexpr double kCount = 2.0 * kPairs;
  EXPECT_NEAR(sum / kCount, 0, 5e-3); // five standard errors
  EXPECT_NEAR(squares / kCount, 1, 7e-3);
  EXPECT_NEAR(fourth / kCount, 3, 5e-2);
  EXPECT_NEAR(product / kPairs, 0, 7e-3);
  EXPECT_GT(largest, 4.2);
  EXPECT_LT(largest, 7);
}

} // namespace
} // namespace wavesmith
