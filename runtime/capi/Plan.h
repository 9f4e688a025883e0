#pragma once
// What stands behind a wavesmith_plan: a decision, and kernels with grids and arguments that wait
// for addresses. Immutable but for becoming ready, once. Any thread.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "include/wavesmith/wavesmith.h"
#include "runtime/capi/Device.h"
#include "runtime/capi/Handles.h"
#include "runtime/dispatch/DeviceLengths.h"
#include "runtime/dispatch/Dispatch.h"

namespace wavesmith::capi {

/// Why a plan is as it is: what explain prints.
struct Explanation {
  std::int32_t path = 0; ///< WAVESMITH_PATH_...
  DType inputs = DType::BF16;
  std::string rule, reason;
  std::string values = "null";        ///< a JSON object, where no policy was asked
  std::string policy, policyOrigin;   ///< that was asked
  std::optional<Decisions> decisions; ///< it came to
  std::int32_t splits = 1;
  std::int64_t sequences = 0; ///< of the batch; 0 of kernels around attention
  /// Offsets of q's, k's and v's counts of saturated elements in the workspace; 0: none.
  std::array<std::uint64_t, 3> saturated{};
  std::uint64_t qCodes = 0, qCodesDescale = 0; ///< likewise of queries that are only quantised
  Status decisionOf(std::int64_t sequence, wavesmith_decision &decision) const;
  /// What has no need of kernels.
  nlohmann::ordered_json json(const char *kind, const Device &device) const;
};
/// Path, rule and reason of a batch: its only decision, or how many sequences go where.
Explanation explanationOf(const Decisions &decisions, const policy::Policy &policy);
/// Adds to `kernels`, a JSON array, what one run of a list launches.
void putKernels(const LoadedLaunchList &list, nlohmann::ordered_json &kernels);

class Plan {
public:
  enum class Kind : std::uint8_t { Attention, Merge, Combine, Quantize, Amax, Histogram };

  Plan(Kind kind, std::shared_ptr<Device> device, LaunchList list, Explanation explanation);

  Kind kind() const { return kind_; }
  Device &device() const { return *device_; }
  /// Compiles and loads what is missing.
  Status makeReady();
  const std::vector<KernelSpec> &kernels() const { return kernels_; }
  const Explanation &explanation() const { return explanation_; }
  std::uint64_t workspaceBytes() const { return workspaceBytes_; }
  std::uint64_t memoryBytes() const { return memoryBytes_; } ///< of the host that it takes, about
  std::uint32_t launches() const { return launches_; }       ///< kernels that one launch enqueues
  /// Whether launching needs an address for that binding.
  bool uses(Binding binding) const { return bindings_ >> static_cast<int>(binding) & 1; }

  /// Null until the plan is ready.
  const LoadedLaunchList *ready() const { return ready_.load(std::memory_order_acquire); }

  Status upload(std::uint64_t workspace, std::uint64_t bytes, hipStream_t stream);
  /// `counts`: as a call of its own.
  Status launch(const AttentionBuffers &buffers, std::uint64_t workspaceBytes, hipStream_t stream,
                bool counts = true);

  void fill(wavesmith_plan_info &info) const;
  /// Valid as long as the plan.
  Expected<const char *> explain();

private:
  Status checkReady() const;

  const Kind kind_;
  const std::shared_ptr<Device> device_;
  const std::uint64_t id_; ///< of the process's plans, never 0
  const Explanation explanation_;
  const std::uint64_t workspaceBytes_;
  const std::uint64_t listBytes_; ///< that are uploaded
  const std::uint64_t memoryBytes_;
  const std::uint32_t launches_;
  const std::uint32_t bindings_; ///< a bit for each that is used
  const std::vector<KernelSpec> kernels_;

  std::mutex mutex_; ///< of what follows, but for the atomic
  LaunchList list_;  ///< until the plan is ready
  std::optional<LoadedLaunchList> loaded_;
  std::atomic<const LoadedLaunchList *> ready_{nullptr};
  std::string explained_;
};

const char *planKindName(Plan::Kind kind); ///< "attention", "merge_states", ...

HandleTable<Plan> &plans();
/// Keeps the plan while a call uses it; the error says what is wrong with the handle.
Expected<HandleTable<Plan>::Use> use(wavesmith_plan plan);
/// Gives out a handle, and the plan's values to `info` unless that is null.
Status giveOut(const std::shared_ptr<Plan> &made, wavesmith_plan *plan, wavesmith_plan_info *info);

} // namespace wavesmith::capi
