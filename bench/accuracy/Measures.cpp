#include "bench/accuracy/Measures.h"

#include <algorithm>
#include <cmath>

#include "runtime/verify/BFloat16.h"
#include "runtime/verify/Parallel.h"
#include "runtime/verify/Random.h"

namespace wavesmith::bench {
namespace {

/// Of the readout alone: every run reads with the same matrix.
constexpr std::uint64_t kReadoutSeed = 0x0ead, kReadoutStream = 64;
constexpr double kClearLead = 0.25; ///< in standard deviations of a row's logits

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

struct Decision {
  std::int64_t first = 0;
  double lead = 0; ///< over the second, in standard deviations
};
Decision decide(const std::vector<float> &logits) {
  double sum = 0, squares = 0;
  std::int64_t first = 0;
  float best = -INFINITY, second = -INFINITY;
  for (std::int64_t i = 0; i < Readout::kLogits; ++i) {
    const float logit = logits[at(i)];
    sum += logit;
    squares += double{logit} * logit;
    if (logit > best) {
      second = best;
      best = logit;
      first = i;
    } else {
      second = std::max(second, logit);
    }
  }
  const double mean = sum / Readout::kLogits;
  const double deviation = std::sqrt(squares / Readout::kLogits - mean * mean);
  return {.first = first, .lead = (double{best} - second) / deviation};
}

} // namespace

Readout::Readout(std::int64_t heads, std::int64_t dim)
    : heads_(heads), dim_(dim), matrix_(at(heads * dim * kLogits)) {
  parallelFor(heads * dim, [&](std::int64_t row) {
    for (std::int64_t i = 0; i < kLogits; i += 2) {
      const auto index = static_cast<std::uint64_t>((row * kLogits + i) / 2);
      const NormalPair pair = randomNormals(kReadoutSeed, kReadoutStream, index);
      matrix_[at(row * kLogits + i)] = static_cast<float>(pair.first);
      matrix_[at(row * kLogits + i + 1)] = static_cast<float>(pair.second);
    }
  });
}

Measures Readout::compare(const AttentionReference &reference,
                          const ModelledAttention &result) const {
  Measures measures{.rows = reference.rows};
  std::vector<double> inverse(at(heads_)); // 1 / RMS of a head
  for (std::int64_t head = 0; head < heads_; ++head) {
    double error = 0, size = 0, lse = 0;
    for (std::int64_t row = 0; row < reference.rows; ++row) {
      const double *right = reference.outRow(row, head);
      const auto *bits = result.out.at<std::uint16_t>(row, head);
      for (std::int64_t i = 0; i < dim_; ++i) {
        const double off = double{bf16ToFloat(bits[i])} - right[i];
        error += off * off;
        size += right[i] * right[i];
      }
      lse += std::abs(double{*result.lse.at<float>(row, head)} - reference.lseOf(row, head));
    }
    measures.relative += std::sqrt(error / size) / static_cast<double>(heads_);
    measures.lse += lse / static_cast<double>(reference.rows * heads_);
    inverse[at(head)] = 1 / std::sqrt(size / static_cast<double>(reference.rows * dim_));
  }

  std::vector<Decision> right(at(reference.rows)), made(at(reference.rows));
  parallelFor(reference.rows, [&](std::int64_t row) {
    std::vector<float> rights(at(kLogits)), mades(at(kLogits));
    for (std::int64_t head = 0; head < heads_; ++head)
      for (std::int64_t i = 0; i < dim_; ++i) {
        const float *weights = matrix_.data() + (head * dim_ + i) * kLogits;
        const auto x = static_cast<float>(reference.outRow(row, head)[i] * inverse[at(head)]);
        const auto y = static_cast<float>(bf16ToFloat(result.out.at<std::uint16_t>(row, head)[i]) *
                                          inverse[at(head)]);
        for (std::int64_t logit = 0; logit < kLogits; ++logit) {
          rights[at(logit)] += x * weights[logit];
          mades[at(logit)] += y * weights[logit];
        }
      }
    right[at(row)] = decide(rights);
    made[at(row)] = decide(mades);
  });
  for (std::int64_t row = 0; row < reference.rows; ++row) {
    const bool flipped = right[at(row)].first != made[at(row)].first;
    const bool clear = right[at(row)].lead >= kClearLead;
    measures.flips += flipped;
    measures.clear += clear;
    measures.clearFlips += flipped && clear;
  }
  return measures;
}

} // namespace wavesmith::bench
