#pragma once
// A kernel around attention on a device: the code object checked against its spec and loaded, then
// launches, which only enqueue, so they can be captured in a graph. Launching is safe from any
// thread.

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/hip/HipObjects.h"
#include "runtime/provider/Provider.h"
#include "runtime/spec/RowKernelAbi.h"

namespace wavesmith {

/// Workgroups in both dimensions of the grid; with none in one of them, launching does nothing.
struct RowGrid {
  std::uint32_t x = 0, y = 0;
};

class LoadedRowKernel {
public:
  /// Refuses an object whose note names another spec or argument layout, whose target is not the
  /// device's or whose kernel does not take our arguments; the message names both sides.
  static Expected<LoadedRowKernel> load(HipTablePtr table, const KernelSpec &spec,
                                        SharedCodeObject object);

  const KernelSpec &spec() const { return spec_; }
  const KernelInfo &info() const { return info_; }

  /// Enqueues it. `Arguments` is the kernel's struct of RowKernelAbi.h; another size is an error.
  template <typename Arguments>
  Status launch(const RowGrid &grid, const Arguments &arguments, hipStream_t stream) const {
    return launchBytes(grid, std::as_bytes(std::span(&arguments, 1)), stream);
  }

private:
  LoadedRowKernel() = default;
  Status launchBytes(const RowGrid &grid, std::span<const std::byte> arguments,
                     hipStream_t stream) const;

  HipTablePtr table_;
  KernelSpec spec_;
  SharedCodeObject object_;
  KernelInfo info_;
  DeviceModule module_;
  hipFunction_t function_ = nullptr;
};

//===-- combine_splits -----------------------------------------------------------------------===//

/// The reducer of an attention kernel's partials.
KernelSpec combineSpec(const std::string &target, int headDimV, bool writeLse);
/// Its arguments, from those of the attention launch that wrote the partials (with addresses filled
/// in) and the device address of the units.
CombineArguments combineArguments(const AttentionArguments &attention, int headDimV,
                                  std::uint64_t units);
/// Its grid for that many units.
RowGrid combineGrid(std::size_t units);

//===-- merge_states, quantize, quantize_concat, amax ----------------------------------------===//

/// `element` is "bf16" or "f32".
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

/// The grid of these four.
Expected<RowGrid> rowGrid(const KernelSpec &spec, std::int64_t tokens, std::int64_t heads);

/// Ok, or an error that names both: queries and keys that are rotated differently have no scores.
Status checkSameRotation(const KernelSpec &queries, const KernelSpec &keys);

} // namespace wavesmith
