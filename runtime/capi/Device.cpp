#include "runtime/capi/Device.h"

#include "runtime/support/Log.h"

namespace wavesmith::capi {

Device::Device(HipTablePtr table, std::shared_ptr<KernelStore> store)
    : table_(std::move(table)), store_(std::move(store)), loader_(table_, store_) {}

Expected<ResolvedKernel> Device::kernel(const KernelSpec &spec) {
  const DeviceScope scope(*table_);
  WAVESMITH_TRY(scope.status());
  return loader_.get(spec);
}

DeviceScope::DeviceScope(const HipTable &table) : table_(table) {
  error_ = table_.hipGetDevice(&before_);
  if (error_ != hipSuccess || before_ == table_.device().ordinal)
    return;
  call_ = "hipSetDevice";
  error_ = table_.hipSetDevice(table_.device().ordinal);
  restore_ = error_ == hipSuccess;
}

DeviceScope::~DeviceScope() {
  if (!restore_)
    return;
  if (const Status status = table_.check(table_.hipSetDevice(before_), "hipSetDevice"); !status)
    log::warn("hip", "the caller's device {} is no longer current: {}", before_, status.message());
}

Status checkStream(const HipTable &table, hipStream_t stream) {
  // Without the query HIP itself must refuse what does not fit.
  if (!stream || !table.hipStreamGetDevice)
    return Status::ok();
  hipDevice_t device = -1;
  const hipError_t code = table.hipStreamGetDevice(stream, &device);
  if (code != hipSuccess)
    return error(StatusCode::InvalidArgument, "stream {} is no stream that HIP knows: {}",
                 static_cast<void *>(stream), table.check(code, "hipStreamGetDevice").message());
  if (device != table.device().ordinal)
    return error(StatusCode::InvalidArgument, "stream {} is of device {}, the plan of device {}",
                 static_cast<void *>(stream), device, table.device().ordinal);
  return Status::ok();
}

Status checkWorkspace(std::string_view whose, std::uint64_t need, std::uint64_t workspace,
                      std::uint64_t bytes) {
  if (workspace == 0)
    return error(StatusCode::InvalidArgument, "the workspace is null; the {} needs {} bytes", whose,
                 need);
  if (workspace % kWorkspaceAlignment != 0)
    return error(StatusCode::InvalidArgument,
                 "the workspace is at 0x{:x}; it must be aligned to {} bytes", workspace,
                 kWorkspaceAlignment);
  if (bytes < need)
    return error(StatusCode::InvalidArgument, "the workspace has {} bytes; the {} needs {}", bytes,
                 whose, need);
  return Status::ok();
}

Status checkOwner(const Device &device, std::uint64_t workspace, std::uint64_t owner,
                  std::string_view upload) {
  using Answer = WorkspaceOwners::Answer;
  const Answer answer = device.owners.ask(workspace, owner);
  if (answer == Answer::Never || answer == Answer::Other) [[unlikely]]
    return error(StatusCode::InvalidArgument,
                 "the workspace at 0x{:x} holds {}; {} puts its own there", workspace,
                 answer == Answer::Never ? "no work lists" : "the work lists of another plan",
                 upload);
  return Status::ok();
}

Status counted(Device &device, Status status) {
  if (!status.isOk())
    device.counters.refusals.fetch_add(1, std::memory_order_relaxed);
  return status;
}

} // namespace wavesmith::capi
