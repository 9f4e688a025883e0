#pragma once
// A launch list with its kernels on a device. Launching only enqueues: no allocation, no lock, no
// file, no synchronisation, so it can be captured in a graph, also the first time. Any thread may
// launch; a workspace belongs to one launch at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cache/KernelStore.h"
#include "runtime/dispatch/LaunchList.h"
#include "runtime/dispatch/LoadedKernel.h"

namespace wavesmith {

/// A kernel on a device, and where its object came from.
struct ResolvedKernel {
  std::shared_ptr<const LoadedKernel> kernel;
  std::string provider; ///< as KernelLookup has it; "memory" when it was loaded before
  double compileMs = 0; ///< of this call
  double lookupMs = 0;  ///< of this call
};
using KernelResolver = std::function<Expected<ResolvedKernel>(const KernelSpec &)>;

/// Kernels of one device from a store, each loaded once and kept. Any thread; two that want the
/// same new kernel may both load it, one of them for nothing.
class KernelLoader {
public:
  KernelLoader(HipTablePtr table, std::shared_ptr<KernelStore> store)
      : table_(std::move(table)), store_(std::move(store)) {}

  Expected<ResolvedKernel> get(const KernelSpec &spec);
  const HipTablePtr &table() const { return table_; }
  /// Kernels that are on the device by now.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return loaded_.size();
  }

private:
  HipTablePtr table_;
  std::shared_ptr<KernelStore> store_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const LoadedKernel>> loaded_; ///< by spec text
};

class LoadedLaunchList {
public:
  /// Asks the resolver for each kernel of the list once. `table` is the device's.
  static Expected<LoadedLaunchList> load(HipTablePtr table, LaunchList list,
                                         const KernelResolver &resolve);

  const LaunchList &list() const { return list_; }
  /// Of list().kernels(), in that order.
  std::span<const ResolvedKernel> kernels() const { return kernels_; }

  /// Enqueues the copies to the workspace. This object must live until the stream has passed them.
  /// Once per workspace, not per launch.
  Status uploadWork(std::uint64_t workspace, hipStream_t stream) const;
  /// Enqueues the steps. An address that is null or misaligned is an error that names it; nothing
  /// has been enqueued then. `before` is told of each step right before it: tools.
  using BeforeStep = std::function<void(const LaunchStep &)>;
  Status launch(const AttentionBuffers &buffers, hipStream_t stream,
                const BeforeStep &before = {}) const;

private:
  LoadedLaunchList() = default;

  HipTablePtr table_;
  LaunchList list_;
  std::vector<ResolvedKernel> kernels_;
  std::vector<const LoadedKernel *> kernelOf_; ///< of each step
};

} // namespace wavesmith
