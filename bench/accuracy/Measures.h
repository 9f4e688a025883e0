#pragma once
// How far results are from float64 on the bf16 inputs, and whether a reader of them would decide
// otherwise. Pure functions.

#include <cstdint>
#include <vector>

#include "runtime/numerics/AttentionModel.h"
#include "runtime/verify/Reference.h"

namespace wavesmith::bench {

struct Measures {
  double relative = 0;         ///< ||error|| / ||reference|| of a head's rows, mean over heads
  double lse = 0;              ///< |error|, mean over rows and heads
  std::int64_t rows = 0;       ///< that the readout read
  std::int64_t flips = 0;      ///< rows whose largest logit is another one than the reference's
  std::int64_t clear = 0;      ///< rows whose reference leads by a quarter of its logits' deviation
  std::int64_t clearFlips = 0; ///< flips among them
};

/// A stand-in for what follows attention: 1024 logits of each row, a fixed standard-normal matrix
/// times the row's heads side by side, each divided by the RMS of the reference's rows of that
/// head.
class Readout {
public:
  static constexpr std::int64_t kLogits = 1024;
  Readout(std::int64_t heads, std::int64_t dim);

  Measures compare(const AttentionReference &reference, const ModelledAttention &result) const;

private:
  std::int64_t heads_, dim_;
  std::vector<float> matrix_; ///< [heads * dim][kLogits]
};

} // namespace wavesmith::bench
