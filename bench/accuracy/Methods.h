#pragma once
// The ways of computing one attention call that the bench compares, each by the CPU model of our
// kernels, so with their bits. Pure functions on all cores.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/numerics/AttentionModel.h"

namespace wavesmith::bench {

enum class Scales : std::uint8_t {
  None,      ///< BF16
  Static,    ///< one for each head, from other inputs
  Dynamic,   ///< one for each head, from these inputs
  PerTensor, ///< one for all heads, from these inputs
  Unit,      ///< 1.0
};

struct Method {
  Scales scales = Scales::None;
  bool rotated = false; ///< queries and keys, before they become codes
};

std::string_view nameOf(Scales scales); ///< "bf16", "static", "dynamic", "per-tensor", "unit"
Expected<Scales> parseScales(std::string_view text);
/// BF16, then every kind of scales plain and rotated.
std::span<const Method> allMethods();

/// Largest magnitudes of q, k and v for each head.
using Maxima = std::array<std::vector<float>, 3>;
Maxima maximaOf(const HostTensor &q, const HostTensor &k, const HostTensor &v, bool rotated);
/// The larger of both for each head.
void include(Maxima &into, const Maxima &other);

struct Computed {
  ModelledAttention attention;
  std::uint64_t saturated = 0; ///< elements of q, k and v beyond the largest code
};

/// `problem` is of bf16 inputs, packed. `calibrated`: what static descales are made of, with the
/// margin that calibration has by default.
Expected<Computed> compute(const Method &method, const AttentionProblem &problem,
                           const HostTensor &q, const HostTensor &k, const HostTensor &v,
                           const Maxima &calibrated);

} // namespace wavesmith::bench
