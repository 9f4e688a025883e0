#pragma once
// Inputs of the bench: the last queries of a prompt over all its keys, drawn from one of verify's
// distributions, heads of very different magnitudes. Pure functions of their arguments.

#include <cstdint>

#include "bench/accuracy/Methods.h"
#include "runtime/verify/Distribution.h"

namespace wavesmith::bench {

struct Case {
  std::string target = "gfx942";
  int headDimQk = 192, headDimV = 128;
  std::int64_t heads = 4, rows = 24, keys = 4096;
  Distribution distribution = Distribution::Normal;
  DistributionOptions options{.needleDepth = 0.5};
};

struct Inputs {
  AttentionProblem problem; ///< bf16, causal
  HostTensor q, k, v;
};

/// Head h has keys and values 4^h / 8 times the distribution's and queries as much smaller, so that
/// scores are its own: powers of two, which change nothing but what heads share.
Expected<Inputs> drawInputs(const Case &drawn, std::uint64_t seed);

/// Maxima, plain and rotated, over whole prompts of 2048 tokens with seeds of their own.
struct Calibration {
  Maxima plain, rotated;
};
Expected<Calibration> calibrate(Case drawn);

} // namespace wavesmith::bench
