#pragma once
// What quantisers must make of bf16 or f16 rows: the rotation in float64, descales from maxima, and
// a judgement of codes that a device made. Pure functions.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/verify/ErrorReport.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith {

/// In place, the product with the orthogonal matrix of a seed: signs (runtime/spec/Rotation.h),
/// then a Hadamard transform over each block, blocks being the powers of two that the size is made
/// of, the largest first (192 = 128 + 64). Seed 0: nothing.
void rotateRow(std::span<double> row, std::uint32_t seed);

/// For each head, or for all if shared: what puts the largest rotated magnitude at the format's
/// largest value; 1 where all are 0.
std::vector<float> descalesOf(const HostTensor &input, DType dtype, std::uint32_t rotation,
                              bool shared, Fp8Format format);

struct CodeReport {
  std::int64_t elements = 0;
  std::int64_t wrong = 0; ///< for which another code is nearer
  RowPosition first;      ///< of the wrong ones; its sequence is -1, rows are packed ones
  double relRms = 0;      ///< of codes times descale against the rotated input
};
/// Codes against the nearest ones, up to the rounding of the device's float32 arithmetic.
CodeReport compareCodes(const HostTensor &input, DType dtype, std::uint32_t rotation,
                        Fp8Format format, const HostTensor &codes,
                        const std::vector<float> &descales);

} // namespace wavesmith
