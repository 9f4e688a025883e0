#pragma once
// The kernels around attention: their specs, arguments and grids, for LoadedKernel. Pure functions.

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/dispatch/LoadedKernel.h"
#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith {

//===-- combine_splits -----------------------------------------------------------------------===//

/// The reducer of an attention kernel's partials.
KernelSpec combineSpec(const std::string &target, const AttentionSpec &attention);
KernelSpec combineSpec(const std::string &target, int headDimV, bool writeLse, DType out);
/// Its arguments, from those of the attention launch that wrote the partials (with addresses filled
/// in) and the device address of the units.
CombineArguments combineArguments(const AttentionArguments &attention, int headDimV,
                                  std::uint64_t units);
/// Its grid for that many units.
KernelGrid combineGrid(std::size_t units);

//===-- merge_states, quantize, quantize_concat, amax, histogram -----------------------------===//

/// `element` is "bf16", "f16" or "f32".
KernelSpec mergeSpec(const std::string &target, int headDimV, const std::string &element);

/// What the quantisers of one attention call have in common.
struct QuantizeOptions {
  std::string input = "bf16"; ///< or "f16", "f32"
  bool dynamic = false;       ///< descales from the maxima that amax found
  std::uint32_t rotation = 0; ///< seed, below 2^31; 0 = rows are not rotated
};
KernelSpec quantizeSpec(const std::string &target, int headDim, const QuantizeOptions &options);
KernelSpec quantizeConcatSpec(const std::string &target, const QuantizeOptions &options);
/// `firstColumn` is 128 for the rope part of a concatenated row.
KernelSpec amaxSpec(const std::string &target, int headDim, const QuantizeOptions &options,
                    int firstColumn = 0);

/// Likewise.
KernelSpec histogramSpec(const std::string &target, int headDim, const QuantizeOptions &options,
                         int firstColumn = 0);

/// The grid of these five.
Expected<KernelGrid> rowGrid(const KernelSpec &spec, std::int64_t tokens, std::int64_t heads);

//===-- work_list ----------------------------------------------------------------------------===//

KernelSpec workListSpec(const std::string &target);

/// Ok, or an error that names both: queries and keys that are rotated differently have no scores.
Status checkSameRotation(const KernelSpec &queries, const KernelSpec &keys);

} // namespace wavesmith
