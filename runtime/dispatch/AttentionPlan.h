#pragma once
// Problem -> plan: kernel spec, work list (heaviest units first), kernel arguments but for the
// addresses, workspace. CPU work only; a plan is a value and may be launched many times.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/spec/AttentionAbi.h"

namespace wavesmith {

struct AttentionPlan {
  CheckedProblem checked;
  std::vector<AttentionWorkUnit> work; ///< one workgroup each; empty: launching does nothing
  AttentionArguments arguments{};      ///< strides and scale; every address is 0

  const KernelSpec &spec() const { return checked.spec; }
  std::uint32_t grid() const { return static_cast<std::uint32_t>(work.size()); }
  /// Device memory that the launch needs besides the tensors: the work list.
  std::uint64_t workspaceBytes() const { return work.size() * sizeof(AttentionWorkUnit); }
  /// Useful multiply-adds times two: what the masks leave.
  double flops() const;
};

/// More units than this and the work list alone would take gigabytes.
inline constexpr std::int64_t kMaxWorkUnits = std::int64_t{1} << 25;

Expected<AttentionPlan> planAttention(const AttentionProblem &problem);

} // namespace wavesmith
