#pragma once
// One device as plans see it: the HIP table, its kernels, which plan's lists lie in which
// workspace, and counts. Plans share it, so it outlives the context that it was opened for. Any
// thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/capi/WorkspaceOwners.h"
#include "runtime/dispatch/LoadedLaunchList.h"

namespace wavesmith::capi {

struct Counters {
  std::atomic<std::uint64_t> plans{0}, planHits{0}, launches{0}, refusals{0};
};

class Device {
public:
  Device(HipTablePtr table, std::shared_ptr<KernelStore> store);

  const HipTable &table() const { return *table_; }
  const HipTablePtr &tablePtr() const { return table_; }
  const DeviceInfo &info() const { return table_->device(); }
  const KernelStore &store() const { return *store_; }

  /// A kernel, compiled and loaded when it must be.
  Expected<ResolvedKernel> kernel(const KernelSpec &spec);
  std::size_t kernelsLoaded() const { return loader_.size(); }

  WorkspaceOwners owners;
  Counters counters;

private:
  HipTablePtr table_;
  std::shared_ptr<KernelStore> store_;
  KernelLoader loader_;
};

/// Makes a device current on this thread and puts the former one back.
class DeviceScope {
public:
  explicit DeviceScope(const HipTable &table);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;
  /// Ok, or why the device could not be made current.
  Status status() const { return table_.check(error_, call_); }

private:
  const HipTable &table_;
  int before_ = 0;
  bool restore_ = false;
  hipError_t error_ = hipSuccess;
  const char *call_ = "hipGetDevice";
};

/// Ok, or why that workspace cannot be used; `whose`: "plan" or "pass".
Status checkWorkspace(std::string_view whose, std::uint64_t need, std::uint64_t workspace,
                      std::uint64_t bytes);
/// Ok, or what else lies in the workspace; `upload` names the function that mends it.
Status checkOwner(const Device &device, std::uint64_t workspace, std::uint64_t owner,
                  std::string_view upload);
/// The status of a call that enqueues, counted when it is a refusal.
Status counted(Device &device, Status status);

/// Ok, or why work of this device cannot go to the stream.
Status checkStream(const HipTable &table, hipStream_t stream);

} // namespace wavesmith::capi
