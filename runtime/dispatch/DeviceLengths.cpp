#include "runtime/dispatch/DeviceLengths.h"

#include <algorithm>
#include <utility>

#include "runtime/dispatch/RowKernel.h"

namespace wavesmith {

Expected<DeviceLengthsPlan> planDeviceLengths(AttentionProblem problem,
                                              const LengthBounds &bounds) {
  if (!problem.lengths.empty())
    return error(StatusCode::InvalidArgument,
                 "the problem has lengths of {} sequences, and bounds for lengths on the device",
                 problem.lengths.size());
  if (bounds.sequences < 0 || bounds.sequences > kMaxTokens)
    return error(StatusCode::InvalidArgument, "sequences is {}; 0 to {} are supported",
                 bounds.sequences, kMaxTokens);
  DeviceLengthsPlan plan;
  plan.bounds = bounds;
  problem.lengths = {{bounds.queries, bounds.keys}};
  WAVESMITH_ASSIGN(plan.checked, checkProblem(problem));
  plan.arguments = attentionArguments(plan.checked);
  // Every sequence that has queries may end in a block of one row.
  const std::int64_t starts = std::min(bounds.sequences, bounds.queries);
  const std::int64_t blocks = (bounds.queries + starts * (kAttentionBlockM - 1)) / kAttentionBlockM;
  const std::int64_t units = starts == 0 ? 0 : blocks * plan.checked.problem.heads;
  if (units > kMaxWorkUnits)
    return error(StatusCode::ResourceExhausted,
                 "{} sequences with {} queries may need {} work units; at most {} in one plan",
                 bounds.sequences, bounds.queries, units, kMaxWorkUnits);
  plan.blocks = starts == 0 ? 0 : static_cast<std::uint32_t>(blocks);
  plan.workspaceBytes =
      alignWorkspace(static_cast<std::uint64_t>(units) * sizeof(AttentionWorkUnit));
  return plan;
}

LaunchList launchList(const DeviceLengthsPlan &plan) {
  LaunchList list;
  if (plan.blocks == 0)
    return list;
  const CheckedProblem &c = plan.checked;
  const AttentionProblem &p = c.problem;
  const auto heads = static_cast<std::uint32_t>(p.heads);
  const std::uint32_t units = plan.blocks * heads;
  const std::uint64_t unitBytes = units * sizeof(AttentionWorkUnit);
  list.workspaceBytes = plan.workspaceBytes;

  WorkListArguments a{};
  a.qOffsetStride = a.kvOffsetStride = sizeof(std::int32_t);
  a.unitStride = sizeof(AttentionWorkUnit);
  a.sequences = static_cast<std::int32_t>(plan.bounds.sequences);
  a.heads = static_cast<std::int32_t>(p.heads);
  a.group = static_cast<std::int32_t>(p.heads / p.kvHeads);
  a.queries = static_cast<std::int32_t>(plan.bounds.queries);
  a.keys = static_cast<std::int32_t>(plan.bounds.keys);
  const ScoreArguments score = scoreArguments(p);
  a.left = score.windowLeft;
  a.right = p.causal ? 0 : score.windowRight;
  const auto offsetBytes =
      2 * static_cast<std::uint64_t>(plan.bounds.sequences + 1) * sizeof(std::int32_t);
  list.add(workListSpec(p.target), {.x = plan.blocks, .y = heads}, a,
           {{.offset = offsetof(WorkListArguments, qOffsets), .binding = Binding::QOffsets},
            {.offset = offsetof(WorkListArguments, kvOffsets), .binding = Binding::KvOffsets},
            {.offset = offsetof(WorkListArguments, units), .addend = 0}},
           offsetBytes + unitBytes);

  std::uint64_t bytes = unitBytes;
  for (const TensorShape *shape : {&c.q, &c.k, &c.v, &c.out})
    bytes += shape->dataBytes(shape->rows);
  if (p.writeLse)
    bytes += c.lse.dataBytes(c.lse.rows);
  addAttention(list, c, {.x = units}, plan.arguments, 0, bytes);
  return list;
}

} // namespace wavesmith
