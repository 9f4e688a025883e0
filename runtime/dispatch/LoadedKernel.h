#pragma once
// A kernel on a device: the code object checked against its spec and loaded, then launches, which
// only enqueue, so they can be captured in a graph. Launching is safe from any thread.

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/hip/HipObjects.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

/// Workgroups in both dimensions of the grid; with none in one of them, launching does nothing.
struct KernelGrid {
  std::uint32_t x = 0, y = 1;
};

class LoadedKernel {
public:
  /// Refuses an object whose note names another spec or argument layout, whose target is not the
  /// device's or whose kernel does not take our arguments; the message names both sides.
  static Expected<LoadedKernel> load(HipTablePtr table, const KernelSpec &spec,
                                     SharedCodeObject object);

  const KernelSpec &spec() const { return spec_; }
  const KernelInfo &info() const { return info_; }
  const HipTable &table() const { return *table_; }

  /// Enqueues it. `Arguments` is the struct that the kernel's layout describes; another size is an
  /// error.
  template <typename Arguments>
  Status launch(const KernelGrid &grid, const Arguments &arguments, hipStream_t stream) const {
    return launchBytes(grid, std::as_bytes(std::span(&arguments, 1)), stream);
  }

  Status launchBytes(const KernelGrid &grid, std::span<const std::byte> arguments,
                     hipStream_t stream) const;

private:
  LoadedKernel() = default;

  HipTablePtr table_;
  KernelSpec spec_;
  KernelAbi abi_{};
  SharedCodeObject object_;
  KernelInfo info_;
  DeviceModule module_;
  hipFunction_t function_ = nullptr;
};

} // namespace wavesmith
