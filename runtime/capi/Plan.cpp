#include "runtime/capi/Plan.h"

#include <utility>

#include "runtime/capi/Call.h"

namespace wavesmith::capi {
namespace {

std::uint64_t imageBytes(const LaunchList &list) {
  std::uint64_t bytes = 0;
  for (const WorkspaceImage &image : list.images)
    bytes += image.bytes.size();
  return bytes;
}

std::uint64_t memoryOf(const LaunchList &list, const Explanation &explanation) {
  std::uint64_t bytes = sizeof(Plan) + imageBytes(list);
  for (const LaunchStep &step : list.steps)
    bytes += sizeof step + step.arguments.size() + step.addresses.size() * sizeof(AddressPlace);
  if (!explanation.decisions)
    return bytes;
  for (const Decisions::Choice &choice : explanation.decisions->choices) {
    const policy::Decision &decision = choice.decision;
    bytes += sizeof choice + choice.sequences.size() * sizeof(std::size_t) + decision.rule.size() +
             decision.reason.size();
    for (const policy::Flip &flip : decision.flips)
      bytes += sizeof flip + flip.variable.size() + flip.value.size() + flip.rule.size();
  }
  return bytes;
}

std::uint32_t bindingsOf(const LaunchList &list) {
  std::uint32_t bits = 0;
  for (const LaunchStep &step : list.steps)
    for (const AddressPlace &place : step.addresses)
      bits |= std::uint32_t{1} << static_cast<int>(place.binding);
  return bits;
}

} // namespace

const char *planKindName(Plan::Kind kind) {
  switch (kind) {
  case Plan::Kind::Attention:
    return "attention";
  case Plan::Kind::Merge:
    return "merge_states";
  case Plan::Kind::Combine:
    return "combine";
  case Plan::Kind::Quantize:
    return "quantize";
  case Plan::Kind::Amax:
    return "amax";
  case Plan::Kind::Histogram:
    return "histogram";
  }
  return "?";
}

Plan::Plan(Kind kind, std::shared_ptr<Device> device, LaunchList list, Explanation explanation)
    : kind_(kind), device_(std::move(device)), id_(WorkspaceOwners::nextOwner()),
      explanation_(std::move(explanation)), workspaceBytes_(list.workspaceBytes),
      listBytes_(imageBytes(list)), memoryBytes_(memoryOf(list, explanation_)),
      launches_(static_cast<std::uint32_t>(list.steps.size())), bindings_(bindingsOf(list)),
      kernels_(list.kernels()), list_(std::move(list)) {}

Status Plan::makeReady() {
  if (ready())
    return Status::ok();
  const std::lock_guard lock(mutex_);
  if (ready())
    return Status::ok();
  // A copy: a plan whose kernel cannot be had now may get it later.
  WAVESMITH_ASSIGN(LoadedLaunchList loaded,
                   LoadedLaunchList::load(device_->tablePtr(), list_, [&](const KernelSpec &spec) {
                     return device_->kernel(spec);
                   }));
  loaded_ = std::move(loaded);
  list_ = {};
  ready_.store(&*loaded_, std::memory_order_release);
  return Status::ok();
}

Status Plan::checkReady() const {
  if (ready()) [[likely]]
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "the plan was made with WAVESMITH_DEFER and is not ready; give it to "
                "wavesmith_prepare first");
}

Status Plan::upload(std::uint64_t workspace, std::uint64_t bytes, hipStream_t stream) {
  WAVESMITH_TRY(checkReady());
  if (workspaceBytes_ == 0)
    return Status::ok();
  WAVESMITH_TRY(checkWorkspace("plan", workspaceBytes_, workspace, bytes));
  WAVESMITH_TRY(checkStream(device_->table(), stream));
  const DeviceScope scope(device_->table());
  WAVESMITH_TRY(scope.status());
  // Nobody's while it is neither the former plan's nor this one's.
  device_->owners.set(workspace, 0);
  WAVESMITH_TRY(ready()->uploadWork(workspace, stream));
  device_->owners.set(workspace, id_);
  return Status::ok();
}

Status Plan::launch(const AttentionBuffers &buffers, std::uint64_t workspaceBytes,
                    hipStream_t stream, bool counts) {
  WAVESMITH_TRY(checkReady());
  if (launches_ == 0)
    return Status::ok();
  if (workspaceBytes_ > 0) {
    WAVESMITH_TRY(checkWorkspace("plan", workspaceBytes_, buffers.workspace, workspaceBytes));
    if (listBytes_ > 0)
      WAVESMITH_TRY(checkOwner(*device_, buffers.workspace, id_, "wavesmith_upload"));
  }
  WAVESMITH_TRY(checkStream(device_->table(), stream));
  const DeviceScope scope(device_->table());
  WAVESMITH_TRY(scope.status());
  // Without lists of its own it makes them there: what another plan's upload left is gone.
  if (workspaceBytes_ > 0 && listBytes_ == 0)
    device_->owners.set(buffers.workspace, id_);
  WAVESMITH_TRY(ready()->launch(buffers, stream));
  if (counts)
    device_->counters.launches.fetch_add(1, std::memory_order_relaxed);
  return Status::ok();
}

void Plan::fill(wavesmith_plan_info &info) const {
  info.workspace_bytes = workspaceBytes_;
  info.workspace_alignment = kWorkspaceAlignment;
  info.launches = launches_;
  info.path = explanation_.path;
  info.ready = ready() != nullptr;
  info.splits = explanation_.splits;
  info.rule = explanation_.rule.c_str();
  info.reason = explanation_.reason.c_str();
  info.saturated_q = explanation_.saturated[0];
  info.saturated_k = explanation_.saturated[1];
  info.saturated_v = explanation_.saturated[2];
}

HandleTable<Plan> &plans() {
  static auto &table = *new HandleTable<Plan>(HandleKind::Plan); // outlives every caller
  return table;
}

Expected<HandleTable<Plan>::Use> use(wavesmith_plan plan) {
  const auto handle = reinterpret_cast<std::uint64_t>(plan);
  HandleTable<Plan>::Use found = plans().use(handle);
  if (!found)
    return badHandle(handle, HandleKind::Plan);
  return found;
}

Status giveOut(const std::shared_ptr<Plan> &made, wavesmith_plan *plan, wavesmith_plan_info *info) {
  WAVESMITH_ASSIGN(const std::uint64_t handle, plans().add(made));
  if (info) {
    wavesmith_plan_info filled{};
    made->fill(filled);
    if (Status status = writeStruct(info, filled, "info"); !status.isOk()) {
      plans().remove(handle);
      return status;
    }
  }
  *plan = reinterpret_cast<wavesmith_plan>(handle);
  return Status::ok();
}

} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_plan_destroy(wavesmith_plan plan) {
  return call("wavesmith_plan_destroy", [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(plan);
    return plans().remove(handle) ? Status::ok() : badHandle(handle, HandleKind::Plan);
  });
}

wavesmith_status wavesmith_plan_get_info(wavesmith_plan plan, wavesmith_plan_info *info) {
  return call("wavesmith_plan_get_info", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(plan));
    wavesmith_plan_info filled{};
    found->fill(filled);
    return writeStruct(info, filled, "info");
  });
}

wavesmith_status wavesmith_plan_explain(wavesmith_plan plan, const char **json) {
  return call("wavesmith_plan_explain", [&]() -> Status {
    if (!json)
      return isNull("json");
    WAVESMITH_ASSIGN(const auto found, use(plan));
    WAVESMITH_ASSIGN(*json, found->explain());
    return Status::ok();
  });
}

wavesmith_status wavesmith_upload(wavesmith_plan plan, void *workspace, uint64_t workspace_bytes,
                                  void *stream) {
  return call("wavesmith_upload", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(plan));
    return counted(found->device(),
                   found->upload(reinterpret_cast<std::uint64_t>(workspace), workspace_bytes,
                                 static_cast<hipStream_t>(stream)));
  });
}
