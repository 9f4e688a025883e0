#include "runtime/scales/Histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wavesmith {
namespace {

constexpr int kBucketShift = 20; // keeps the exponent and three bits of the mantissa
/// Of one head: far beyond any run, and sums over every rank stay within 64 bits.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 48;

} // namespace

std::uint32_t magnitudeBucket(float value) {
  return std::bit_cast<std::uint32_t>(std::abs(value)) >> kBucketShift;
}

float bucketEdge(std::uint32_t bucket) { return std::bit_cast<float>(bucket << kBucketShift); }

Status validateHistogram(const MagnitudeHistogram &histogram) {
  if (histogram.counts.empty())
    return Status(StatusCode::InvalidArgument, "the histogram has no counts");
  if (histogram.first >= kMagnitudeBuckets ||
      histogram.counts.size() > kMagnitudeBuckets - histogram.first)
    return error(StatusCode::InvalidArgument,
                 "the histogram has {} buckets from {} on; want buckets below {}",
                 histogram.counts.size(), histogram.first, kMagnitudeBuckets);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : histogram.counts) {
    if (count > kMaxElements - sum)
      return Status(StatusCode::InvalidArgument, "the histogram counts more than 2^48 elements");
    sum += count;
  }
  if (sum == 0)
    return Status(StatusCode::InvalidArgument, "the histogram counts no element");
  return Status::ok();
}

Status validatePercentile(double percentile) {
  if (percentile > 0 && percentile <= 100)
    return Status::ok();
  return error(StatusCode::InvalidArgument, "percentile is {}; want above 0 and at most 100",
               percentile);
}

float magnitudeAt(const MagnitudeHistogram &histogram, double percentile) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : histogram.counts)
    sum += count;
  // The rank from the top, so that 100 leaves out nothing whatever the rounding of the product.
  // 100 - 99.9 is a little less than 0.1: the factor gives back the element that this would cost.
  const double above = static_cast<double>(sum) * (100 - percentile) / 100 * (1 + 1e-9);
  const auto mayExceed = static_cast<std::uint64_t>(std::floor(above));
  std::uint64_t exceeding = 0;
  for (std::size_t i = histogram.counts.size(); i > 0; --i) {
    exceeding += histogram.counts[i - 1];
    if (exceeding > mayExceed)
      return bucketEdge(histogram.first + static_cast<std::uint32_t>(i));
  }
  return bucketEdge(histogram.first);
}

MagnitudeHistogram addHistograms(const MagnitudeHistogram &a, const MagnitudeHistogram &b) {
  MagnitudeHistogram sum;
  sum.first = std::min(a.first, b.first);
  sum.counts.resize(std::max(a.first + a.counts.size(), b.first + b.counts.size()) - sum.first);
  for (const MagnitudeHistogram *part : {&a, &b})
    for (std::size_t i = 0; i < part->counts.size(); ++i)
      sum.counts[part->first - sum.first + i] += part->counts[i];
  return sum;
}

} // namespace wavesmith
