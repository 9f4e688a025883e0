#pragma once
// Attention in float64 over bf16, f16 or FP8 inputs: what every kernel is compared with. Blocked,
// vectorised for the host's CPU and run on all cores, since tests compare gigaflops. Pure function.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith {

struct AttentionReference {
  std::int64_t rows = 0, heads = 0, dim = 0;
  std::vector<double> out; ///< [rows][heads][dim]; zero in rows without keys
  std::vector<double> lse; ///< [heads][rows], natural log; in rows without keys -inf, or the sink
  std::vector<std::int64_t> seen; ///< [rows]: keys that the row sees
  const double *outRow(std::int64_t row, std::int64_t head) const {
    return out.data() + (row * heads + head) * dim;
  }
  double lseOf(std::int64_t row, std::int64_t head) const {
    return lse[static_cast<std::size_t>(head * rows + row)];
  }
};

/// What the FP8 codes of q, k and v are multiplied by: a value for each head, one for all, or none.
struct Descales {
  std::vector<float> q, k, v;

  static double at(const std::vector<float> &of, std::int64_t head) {
    return of.empty() ? 1.0 : of[of.size() == 1 ? 0 : static_cast<std::size_t>(head)];
  }
};

/// `threads` 0 = all cores. `sinks` are one for each head if the problem has them, else empty.
AttentionReference attentionReference(const CheckedProblem &problem, const HostTensor &q,
                                      const HostTensor &k, const HostTensor &v,
                                      const Descales &descales = {}, int threads = 0,
                                      std::span<const float> sinks = {});

} // namespace wavesmith
