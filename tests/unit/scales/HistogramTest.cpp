// Buckets, percentiles and sums of magnitude histograms.

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/scales/Histogram.h"

using namespace wavesmith;
using testing::HasSubstr;

namespace {

TEST(Histogram, EveryMagnitudeLiesBetweenTheEdgesOfItsBucket) {
  for (const float value :
       {0.0F, 1e-45F, 1e-38F, 0.001F, 0.9999F, 1.0F, 1.124F, 1.125F, 240.0F, 3e38F}) {
    const std::uint32_t bucket = magnitudeBucket(value);
    EXPECT_EQ(magnitudeBucket(-value), bucket);
    EXPECT_LT(bucket, kMagnitudeBuckets);
    EXPECT_LE(bucketEdge(bucket), value);
    EXPECT_GT(bucketEdge(bucket + 1), value);
  }
  EXPECT_EQ(bucketEdge(magnitudeBucket(1.0F) + 1), 1.125F) << "an eighth of an octave";
  EXPECT_TRUE(std::isinf(bucketEdge(kMagnitudeBuckets)));
}

TEST(Histogram, PercentileLeavesOutNoMoreThanItsShare) {
  const std::uint32_t one = magnitudeBucket(1.0F);
  const MagnitudeHistogram histogram{one, {9000, 0, 990, 9, 1}};
  EXPECT_EQ(magnitudeAt(histogram, 100), bucketEdge(one + 5));
  EXPECT_EQ(magnitudeAt(histogram, 99.995), bucketEdge(one + 5)) << "half an element is none";
  EXPECT_EQ(magnitudeAt(histogram, 99.99), bucketEdge(one + 4));
  EXPECT_EQ(magnitudeAt(histogram, 99.9), bucketEdge(one + 3));
  EXPECT_EQ(magnitudeAt(histogram, 99.8), bucketEdge(one + 3));
  EXPECT_EQ(magnitudeAt(histogram, 50), bucketEdge(one + 1));
}

TEST(Histogram, SumHasTheElementsOfBoth) {
  const MagnitudeHistogram a{1000, {1, 2}}, b{1003, {4}};
  EXPECT_EQ(addHistograms(a, b), (MagnitudeHistogram{1000, {1, 2, 0, 4}}));
  EXPECT_EQ(addHistograms(b, a), addHistograms(a, b));
}

TEST(Histogram, RefusesWhatIsNone) {
  const auto refusal = [](const MagnitudeHistogram &histogram) {
    return validateHistogram(histogram).message();
  };
  EXPECT_TRUE(validateHistogram({kMagnitudeBuckets - 1, {1}}).isOk());
  EXPECT_THAT(refusal({0, {}}), HasSubstr("no counts"));
  EXPECT_THAT(refusal({kMagnitudeBuckets - 1, {1, 1}}), HasSubstr("2 buckets from 2039 on"));
  EXPECT_THAT(refusal({0xffffffff, {1}}), HasSubstr("4294967295"));
  EXPECT_THAT(refusal({5, {0, 0}}), HasSubstr("no element"));
  EXPECT_THAT(refusal({5, {std::numeric_limits<std::uint64_t>::max(), 1}}), HasSubstr("2^48"));
}

} // namespace
