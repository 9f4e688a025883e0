#include "runtime/verify/Distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/ranges.h>

#include "runtime/verify/Element16.h"
#include "runtime/verify/Parallel.h"
#include "runtime/verify/Random.h"

namespace wavesmith {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"normal", "heavy-tail", "outlier-channels",
                                                    "needle", "faint",      "drift"};

/// Streams of randomness: the elements themselves are drawn from 0, 1 and 2.
constexpr std::uint64_t kTailStream = 16, kNeedleStream = 32;

/// Positions after which a drifting magnitude has grown by that of the first.
constexpr double kDriftLength = 4096;
constexpr std::array<std::int64_t, 3> kOutlierChannels = {5, 80, 150};

/// element = change(row, head, index, element) for all, rows in parallel.
template <typename Change> void forElements(DType dtype, HostTensor &tensor, const Change &change) {
  const TensorShape &shape = tensor.shape();
  parallelFor(shape.rows, [&](std::int64_t row) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      auto *bits = tensor.at<std::uint16_t>(row, head);
      for (std::int64_t i = 0; i < shape.dim; ++i)
        bits[i] =
            doubleToElement(dtype, change(row, head, i, double{elementToFloat(dtype, bits[i])}));
    }
  });
}

/// Student's t is a normal over the root of a mean of squares of as many normals.
void heavyTail(DType dtype, HostTensor &tensor, std::uint64_t seed, std::uint64_t stream) {
  const TensorShape &shape = tensor.shape();
  forElements(dtype, tensor,
              [&](std::int64_t row, std::int64_t head, std::int64_t i, double value) -> double {
                const auto index =
                    static_cast<std::uint64_t>((row * shape.heads + head) * shape.dim + i);
                const NormalPair one = randomNormals(seed, kTailStream + stream, 2 * index);
                const double other = randomNormals(seed, kTailStream + stream, 2 * index + 1).first;
                const double squares =
                    one.first * one.first + one.second * one.second + other * other;
                return value / std::sqrt(squares / 3);
              });
}

void outlierChannels(DType dtype, HostTensor &tensor, double factor) {
  std::array<std::int64_t, 3> channels = kOutlierChannels;
  for (std::int64_t &channel : channels)
    channel %= tensor.shape().dim;
  forElements(dtype, tensor, [&](std::int64_t, std::int64_t, std::int64_t i, double value) {
    return std::ranges::count(channels, i) ? factor * value : value;
  });
}

/// Adds a multiple of one direction u to all queries and to one key of each sequence: the key's
/// score grows by a * a * |u|^2 * scale, which for |u|^2 = dim is to be ln(keys).
class Needles {
public:
  Needles(const CheckedProblem &problem, std::uint64_t seed, double depth)
      : p_(problem.problem), seed_(seed), depth_(depth) {}

  void add(HostTensor &q, HostTensor &k) const {
    std::int64_t qBegin = 0, kvBegin = 0;
    for (const SequenceLength &length : p_.lengths) {
      if (length.kv > 0) {
        const double size =
            std::sqrt(std::log(static_cast<double>(length.kv)) / (*p_.scale * p_.headDimQk));
        for (std::int64_t row = 0; row < length.q; ++row)
          addTo(q, qBegin + row, size);
        addTo(k, kvBegin + static_cast<std::int64_t>(depth_ * static_cast<double>(length.kv)),
              size);
      }
      qBegin += length.q;
      kvBegin += length.kv;
    }
  }

private:
  void addTo(HostTensor &tensor, std::int64_t row, double size) const {
    for (std::int64_t head = 0; head < tensor.shape().heads; ++head) {
      auto *bits = tensor.at<std::uint16_t>(row, head);
      for (std::int64_t i = 0; i < p_.headDimQk; ++i) {
        const bool negative = randomBits(seed_, kNeedleStream, static_cast<std::uint64_t>(i)) & 1;
        bits[i] = doubleToElement(p_.dtype, double{elementToFloat(p_.dtype, bits[i])} +
                                                (negative ? -size : size));
      }
    }
  }

  const AttentionProblem &p_;
  std::uint64_t seed_;
  double depth_;
};

/// The first channel belongs to one key, which has nothing else. What the others leave in the
/// result is their values' mean times 2^-19, with values that make it a common number.
void faint(const CheckedProblem &checked, double depth, HostTensor &q, HostTensor &k,
           HostTensor &v) {
  constexpr double kChannel = 4, kOctaves = 19, kValues = 0x1p10;
  const AttentionProblem &p = checked.problem;
  const double score = kOctaves * std::numbers::ln2;
  std::vector<bool> outweighs;
  for (const SequenceLength &length : p.lengths) {
    const auto at = static_cast<std::int64_t>(depth * static_cast<double>(length.kv));
    for (std::int64_t row = 0; row < length.kv; ++row)
      outweighs.push_back(row == at);
  }
  forElements(p.dtype, q, [&](std::int64_t, std::int64_t, std::int64_t i, double value) {
    return i == 0 ? kChannel : value;
  });
  forElements(p.dtype, k, [&](std::int64_t row, std::int64_t, std::int64_t i, double value) {
    const double first =
        outweighs[static_cast<std::size_t>(row)] ? score / (kChannel * *p.scale) : 0;
    return i == 0 ? first : outweighs[static_cast<std::size_t>(row)] ? 0 : value;
  });
  forElements(p.dtype, v, [&](std::int64_t row, std::int64_t, std::int64_t, double value) {
    return outweighs[static_cast<std::size_t>(row)] ? 0 : kValues * value;
  });
}

/// Scores of a late query with late keys stay what they are.
void drift(const AttentionProblem &p, HostTensor &q, HostTensor &k, HostTensor &v) {
  // Of each packed row: its position in its sequence, queries being the last ones.
  std::vector<std::int64_t> queries, keys;
  for (const SequenceLength &length : p.lengths) {
    for (std::int64_t row = 0; row < length.q; ++row)
      queries.push_back(std::max<std::int64_t>(length.kv - length.q + row, 0));
    for (std::int64_t row = 0; row < length.kv; ++row)
      keys.push_back(row);
  }
  const auto growth = [](const std::vector<std::int64_t> &positions, std::int64_t row) {
    return 1 + static_cast<double>(positions[static_cast<std::size_t>(row)]) / kDriftLength;
  };
  forElements(p.dtype, q, [&](std::int64_t row, std::int64_t, std::int64_t, double value) {
    return value / growth(queries, row);
  });
  for (HostTensor *tensor : {&k, &v})
    forElements(p.dtype, *tensor, [&](std::int64_t row, std::int64_t, std::int64_t, double value) {
      return value * growth(keys, row);
    });
}

} // namespace

std::span<const std::string_view> distributionNames() { return kNames; }
std::string_view distributionName(Distribution distribution) {
  return kNames[static_cast<std::size_t>(distribution)];
}
Expected<Distribution> parseDistribution(std::string_view text) {
  const auto *found = std::ranges::find(kNames, text);
  if (found == kNames.end())
    return error(StatusCode::InvalidArgument, "\"{}\" is no distribution; known: {}",
                 text.substr(0, 80), fmt::join(kNames, ", "));
  return static_cast<Distribution>(found - kNames.begin());
}

void applyDistribution(Distribution distribution, const CheckedProblem &problem, std::uint64_t seed,
                       HostTensor &q, HostTensor &k, HostTensor &v,
                       const DistributionOptions &options) {
  const DType dtype = problem.problem.dtype;
  switch (distribution) {
  case Distribution::Normal:
    return;
  case Distribution::HeavyTail:
    heavyTail(dtype, q, seed, 0);
    heavyTail(dtype, k, seed, 1);
    heavyTail(dtype, v, seed, 2);
    return;
  case Distribution::OutlierChannels:
    outlierChannels(dtype, q, options.outlier);
    outlierChannels(dtype, k, options.outlier);
    return;
  case Distribution::Needle:
    Needles(problem, seed, options.needleDepth).add(q, k);
    return;
  case Distribution::Faint:
    faint(problem, options.needleDepth, q, k, v);
    return;
  case Distribution::Drift:
    drift(problem.problem, q, k, v);
    return;
  }
}

} // namespace wavesmith
