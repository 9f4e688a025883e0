#pragma once
// Running row kernels and whole launch lists on the emulator: what their end-to-end tests share.
// Every launch has all checks on; a fault is an error with its text.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/KernelStore.h"
#include "runtime/dispatch/LoadedLaunchList.h"
#include "runtime/dispatch/RowKernel.h"
#include "runtime/exec/Modelled.h"
#include "runtime/verify/HostTensor.h"

namespace wavesmith::testing {

/// Draws the same on every host.
class Draw {
public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t bits();
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(bits() % std::uint64_t(n));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool oneIn(int n) { return below(n) == 0; }
  float normal();

private:
  std::uint64_t seed_, next_ = 0;
};

class RowDevice {
public:
  /// No buffer of another RowDevice may be alive when the target differs.
  static Expected<std::unique_ptr<RowDevice>>
  open(const std::string &target, const std::string &order = "default", bool model = false);

  /// Compiled without a disk cache, once a process.
  Expected<LoadedKernel> kernel(const KernelSpec &spec);
  Expected<DeviceBuffer> allocate(std::uint64_t bytes);
  template <typename T> Expected<DeviceBuffer> upload(std::span<const T> values) {
    return uploadBytes(std::as_bytes(values));
  }
  Expected<DeviceBuffer> upload(HostTensor &tensor) { return uploadBytes(tensor.bytes()); }

  /// Launches, waits, and collects the faults of all checks.
  template <typename Arguments>
  Status run(const LoadedKernel &kernel, const KernelGrid &grid, const Arguments &arguments) {
    WAVESMITH_TRY(kernel.launch(grid, arguments, stream_.get()));
    // An empty grid launches nothing, so there is nothing to report.
    return grid.x == 0 || grid.y == 0 ? Status::ok() : finish();
  }
  /// A list's kernels, likewise.
  Expected<LoadedLaunchList> load(LaunchList list);
  /// Waits for what was enqueued on stream(), and collects the faults of all checks.
  Status finish();
  const HipTable &table() const { return *table_; }
  hipStream_t stream() const { return stream_.get(); }
  /// Of the launches since the last call; none without the model.
  const std::optional<ModelledTime> &modelled() const { return modelled_; }

private:
  Expected<DeviceBuffer> uploadBytes(std::span<const std::byte> bytes);

  HipTablePtr table_;
  Stream stream_;
  std::optional<ModelledTime> modelled_;
};

} // namespace wavesmith::testing
