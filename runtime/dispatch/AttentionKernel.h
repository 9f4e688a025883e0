#pragma once
// A plan's kernels on a device, attention and, where blocks are split, the merge of its partials:
// the code objects checked against the plan's specs and loaded, then launches, which only enqueue
// (no allocation, no file, no synchronisation), so they can be captured in a graph. Launching is
// safe from any thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/dispatch/AttentionPlan.h"
#include "runtime/dispatch/LoadedKernel.h"
#include "runtime/hip/HipObjects.h"
#include "runtime/provider/Provider.h"

namespace wavesmith {

/// Device addresses of element (0, 0, 0) of each tensor; 0 is right for an empty one and for lse
/// when the spec has none.
struct AttentionBuffers {
  std::uint64_t q = 0, k = 0, v = 0, out = 0, lse = 0;
  std::uint64_t workspace = 0; ///< plan.workspaceBytes(), filled by uploadWork()
  /// FP8: float32, one for each head or a single one, as the problem says; else ignored.
  std::uint64_t descaleQ = 0, descaleK = 0, descaleV = 0;
};

class AttentionKernel {
public:
  /// As LoadedKernel::load().
  static Expected<AttentionKernel> load(HipTablePtr table, const KernelSpec &spec,
                                        SharedCodeObject object);
  /// Gives a split attention kernel its merge; launching a plan with splits needs the plan's.
  void setCombine(LoadedKernel combine) { combine_ = std::move(combine); }

  const KernelInfo &info() const { return kernel_.info(); }
  const HipTable &table() const { return kernel_.table(); }

  /// Enqueues the copy of the plan's work lists to the workspace. The plan must live until the
  /// stream has passed it. Once per workspace, not per launch.
  Status uploadWork(const AttentionPlan &plan, std::uint64_t workspace, hipStream_t stream) const;
  /// Enqueues the plan; does nothing for an empty one.
  Status launch(const AttentionPlan &plan, const AttentionBuffers &buffers,
                hipStream_t stream) const;

private:
  explicit AttentionKernel(LoadedKernel kernel) : kernel_(std::move(kernel)) {}

  LoadedKernel kernel_;
  std::optional<LoadedKernel> combine_;
};

} // namespace wavesmith
