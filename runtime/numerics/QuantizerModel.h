#pragma once
// The quantising kernels on the host's CPU, bit by bit: maxima, descales and codes of bf16 or f16
// rows (`element`), as templates/amax.mlir and templates/quantize.mlir make them. Pure functions,
// on all cores.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith {

/// The largest finite magnitude of each head, or of all if shared; rows are rotated first by the
/// seed unless it is 0.
std::vector<float> modelMaxima(const HostTensor &input, DType element, std::uint32_t rotation,
                               bool shared);

/// What quantisers with dynamic scales make of maxima.
std::vector<float> modelDescales(std::span<const float> maxima, Fp8Format format);

struct ModelledCodes {
  HostTensor codes;                     ///< packed
  std::vector<std::uint64_t> saturated; ///< elements beyond the largest code, for each head
};
/// `descales`: one for each head, or one for all.
ModelledCodes modelCodes(const HostTensor &input, DType element, std::uint32_t rotation,
                         Fp8Format format, std::span<const float> descales);

} // namespace wavesmith
