#pragma once
// Inputs that are harder than standard-normal ones, made of these in place. What each is made like
// and why: docs/accuracy.md. Pure functions of their arguments.

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith {

enum class Distribution : std::uint8_t {
  Normal,          ///< as they are
  HeavyTail,       ///< q, k and v: Student's t with 3 degrees of freedom
  OutlierChannels, ///< three channels of q and k are larger
  Needle,          ///< one key of each sequence weighs about as much as all others together
  Faint, ///< one key of each sequence outweighs each other one 2^19 times and has no value
  Drift, ///< keys and values grow with their position, queries shrink as much
};
std::string_view distributionName(Distribution distribution); ///< "heavy-tail"
Expected<Distribution> parseDistribution(std::string_view text);
/// Of all, for messages.
std::span<const std::string_view> distributionNames();

struct DistributionOptions {
  double needleDepth =
      1.0 /
      3; ///< where the needle, or the key without a value, is among its sequence's keys, in [0, 1)
  double outlier = 20; ///< how many times larger outlier channels are
};

/// Of bf16 or f16 tensors with standard-normal elements. `seed` is that of the elements.
void applyDistribution(Distribution distribution, const CheckedProblem &problem, std::uint64_t seed,
                       HostTensor &q, HostTensor &k, HostTensor &v,
                       const DistributionOptions &options = {});

} // namespace wavesmith
