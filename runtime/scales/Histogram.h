#pragma once
// How large the elements of one head were: counts of magnitudes in buckets that are an eighth of an
// octave wide, like the steps of e4m3. A scale can then leave out the largest few (percentile
// scales) instead of following a single outlier. Plain value, pure functions, any thread.

#include <cstdint>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

/// counts[i] elements lie in bucket first + i. Bucket b holds the magnitudes whose float32 bits,
/// shifted right by 20, are b: from bucketEdge(b) up to but not including bucketEdge(b + 1).
struct MagnitudeHistogram {
  std::uint32_t first = 0;
  std::vector<std::uint64_t> counts;

  bool operator==(const MagnitudeHistogram &) const = default;
};

/// Buckets of finite magnitudes; bucketEdge(kMagnitudeBuckets) is infinity.
inline constexpr std::uint32_t kMagnitudeBuckets = 0x7f8;

std::uint32_t magnitudeBucket(float value);
float bucketEdge(std::uint32_t bucket);
/// Ok, or what is wrong: no counts, buckets beyond the finite ones, a sum of 0 or beyond 2^48.
Status validateHistogram(const MagnitudeHistogram &histogram);
/// Ok for a share of 100 parts that a scale can cover: above 0, at most 100.
Status validatePercentile(double percentile);
/// The upper edge of the bucket that holds the element of that rank: at least `percentile` of 100
/// parts of all elements are below it. 100 gives the edge over the largest.
float magnitudeAt(const MagnitudeHistogram &histogram, double percentile);
/// The counts of both, for heads that several ranks saw.
MagnitudeHistogram addHistograms(const MagnitudeHistogram &a, const MagnitudeHistogram &b);

} // namespace wavesmith
