#pragma once
// Problem -> plan: kernel spec, work list, kernel arguments but for the addresses, workspace. CPU
// work only; a plan is a value and may be launched many times.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/dispatch/WorkList.h"
#include "runtime/spec/AttentionAbi.h"

namespace wavesmith {

struct PlanOptions {
  /// Pieces that a row block's keys are cut into: 0 as the device's size asks, 1 never, N up to N
  /// wherever there are keys enough. A pinned number makes the bits of a sequence's rows
  /// independent of the rest of the batch.
  int splits = 0;
  std::optional<DeviceShape> device; ///< none: the target's usual chip
  /// Which sequences of the batch are planned, rising: the others' rows of out and lse are left
  /// alone. None: all.
  std::optional<std::vector<std::size_t>> sequences;
};

/// Parts of a workspace begin at multiples of this, in bytes.
inline constexpr std::uint64_t kWorkspaceAlignment = 256;
constexpr std::uint64_t alignWorkspace(std::uint64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

/// Where things stand in a plan's workspace, in bytes from its start.
struct WorkspaceLayout {
  std::uint64_t work = 0;       ///< AttentionWorkUnit[grid]
  std::uint64_t merges = 0;     ///< CombineUnit[list.merges]
  std::uint64_t partialLse = 0; ///< float32 [slot][256]
  std::uint64_t partialOut = 0; ///< float32 [slot][256][d_v]
  std::uint64_t bytes = 0;
};

struct AttentionPlan {
  CheckedProblem checked;
  std::vector<std::size_t> sequences; ///< that the plan computes
  std::int64_t rowsQ = 0, rowsKv = 0; ///< tokens of them
  WorkList list;                      ///< no units: launching does nothing
  WorkspaceLayout workspace;
  AttentionArguments arguments{};        ///< strides and scale; every address is 0
  std::optional<KernelSpec> combineSpec; ///< that merges partials; none when no block is split

  const KernelSpec &spec() const { return checked.spec; }
  const std::vector<AttentionWorkUnit> &work() const { return list.units; }
  std::uint32_t grid() const { return static_cast<std::uint32_t>(list.units.size()); }
  /// Device memory that the launch needs besides the tensors.
  std::uint64_t workspaceBytes() const { return workspace.bytes; }
  /// Useful multiply-adds times two: what the masks leave.
  double flops() const;
};

/// More units than this and the work list alone would take gigabytes.
inline constexpr std::int64_t kMaxWorkUnits = std::int64_t{0xffffffff} / kAttentionThreads;

/// Strides and scale of a call; every address is 0.
AttentionArguments attentionArguments(const CheckedProblem &checked);
/// Of score functions; sinks is 0.
ScoreArguments scoreArguments(const AttentionProblem &problem);

Expected<AttentionPlan> planAttention(const AttentionProblem &problem,
                                      const PlanOptions &options = {});
Expected<AttentionPlan> planAttention(CheckedProblem checked, const PlanOptions &options = {});

} // namespace wavesmith
