#pragma once
// Every kernel that there is, as specs: what a plan may ask for, what `wavesmith targets --kernels`
// lists, and what the closure tests compile and verify. Constant data and pure functions, any
// thread.

#include <span>
#include <string_view>
#include <vector>

#include "runtime/spec/KernelSpec.h"

namespace wavesmith {

struct HeadDims {
  int qk, v; ///< of queries and keys; of values

  bool operator==(const HeadDims &) const = default;
};
/// Those that attention has kernels for, in the order in which messages list them.
std::span<const HeadDims> headDims();

/// Attention for a target: every dtype in and out, head dims and mask, with and without logarithms,
/// splits and each set of score functions, by the default schedule. The plainest of equal dims come
/// first.
std::vector<KernelSpec> attentionFamily(std::string_view target);

/// The kernels around attention, in every variant. Quantisers rotate by the seed `rotation`, or not
/// at all if it is 0.
std::vector<KernelSpec> rowFamily(std::string_view target, std::uint32_t rotation);

/// Both. A rotation's seed is any number, so there is one quantiser without and one with seed
/// kSampleRotation, which stands for all of them.
inline constexpr std::uint32_t kSampleRotation = 1;
std::vector<KernelSpec> kernelFamily(std::string_view target);

} // namespace wavesmith
