#include "runtime/dispatch/AttentionPlan.h"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <utility>

#include "runtime/dispatch/RowKernel.h"

namespace wavesmith {
namespace {

WorkspaceLayout layOut(const WorkList &list, int headDimV) {
  WorkspaceLayout layout;
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t begin = layout.bytes;
    layout.bytes = alignWorkspace(begin + bytes);
    return begin;
  };
  layout.work = take(list.units.size() * sizeof(AttentionWorkUnit));
  layout.merges = take(list.merges.size() * sizeof(CombineUnit));
  const auto rows = static_cast<std::uint64_t>(list.slots) * kAttentionBlockM;
  layout.partialLse = take(rows * sizeof(float));
  layout.partialOut = take(rows * static_cast<std::uint64_t>(headDimV) * sizeof(float));
  return layout;
}

Expected<std::vector<std::size_t>> plannedSequences(const PlanOptions &options,
                                                    std::size_t sequences) {
  if (!options.sequences) {
    std::vector<std::size_t> all(sequences);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  std::size_t next = 0;
  for (const std::size_t i : *options.sequences) {
    if (i < next || i >= sequences)
      return error(StatusCode::InvalidArgument,
                   "sequence {} is out of order or not of the batch; want rising ones below {}", i,
                   sequences);
    next = i + 1;
  }
  return *options.sequences;
}

} // namespace

ScoreArguments scoreArguments(const AttentionProblem &p) {
  ScoreArguments score{};
  if (p.softCap) {
    score.softCapRange = static_cast<float>(2 * *p.softCap * std::numbers::log2e);
    score.softCapRate = static_cast<float>(2 / *p.softCap);
  }
  const auto side = [](std::int64_t keys) {
    return keys < 0 ? kNoWindow : static_cast<std::int32_t>(keys);
  };
  score.windowLeft = side(p.window.left);
  score.windowRight = side(p.window.right);
  return score;
}

Expected<AttentionPlan> planAttention(const AttentionProblem &problem, const PlanOptions &options) {
  WAVESMITH_ASSIGN(CheckedProblem checked, checkProblem(problem));
  return planAttention(std::move(checked), options);
}

Expected<AttentionPlan> planAttention(CheckedProblem checked, const PlanOptions &options) {
  if (options.splits < 0 || options.splits > kMaxSplits)
    return error(StatusCode::InvalidArgument, "splits is {}; want 0 (automatic) to {}",
                 options.splits, kMaxSplits);
  if (options.device &&
      (options.device->xcds < 1 || options.device->computeUnits < options.device->xcds))
    return error(StatusCode::InvalidArgument,
                 "the device has {} compute units on {} XCDs; want at least one on each",
                 options.device->computeUnits, options.device->xcds);
  AttentionPlan plan;
  plan.checked = std::move(checked);
  const CheckedProblem &c = plan.checked;
  const AttentionProblem &p = c.problem;

  WAVESMITH_ASSIGN(plan.sequences, plannedSequences(options, p.lengths.size()));
  std::int64_t units = 0;
  for (const std::size_t i : plan.sequences) {
    units += (p.lengths[i].q + kAttentionBlockM - 1) / kAttentionBlockM * p.heads;
    plan.rowsQ += p.lengths[i].q;
    plan.rowsKv += p.lengths[i].kv;
  }
  if (units * std::max(options.splits, 1) > kMaxWorkUnits)
    return error(StatusCode::ResourceExhausted,
                 "the batch needs {} work units ({} sequences, {} heads, up to {} splits); at most "
                 "{} in one plan",
                 units, plan.sequences.size(), p.heads, std::max(options.splits, 1), kMaxWorkUnits);
  const DeviceShape device = options.device.value_or(deviceShape(p.target));
  plan.list = buildWorkList(p, plan.sequences, options.splits, device, workCosts(c.spec, device));
  plan.checked.spec.attention.splitKv = plan.list.slots > 0;
  if (plan.list.slots > 0)
    plan.combineSpec = combineSpec(p.target, plan.checked.spec.attention);
  plan.workspace = layOut(plan.list, p.headDimV);

  plan.arguments = attentionArguments(c);
  return plan;
}

AttentionArguments attentionArguments(const CheckedProblem &c) {
  const auto bytes = [](std::int64_t stride, const TensorShape &shape) {
    return stride * shape.elementBytes;
  };
  const AttentionProblem &p = c.problem;
  AttentionArguments a{};
  a.qRowStride = bytes(c.q.rowStride, c.q);
  a.qHeadStride = bytes(c.q.headStride, c.q);
  a.kRowStride = bytes(c.k.rowStride, c.k);
  a.kHeadStride = bytes(c.k.headStride, c.k);
  a.vRowStride = bytes(c.v.rowStride, c.v);
  a.vHeadStride = bytes(c.v.headStride, c.v);
  a.outRowStride = bytes(c.out.rowStride, c.out);
  a.outHeadStride = bytes(c.out.headStride, c.out);
  a.lseHeadStride = bytes(c.lse.headStride, c.lse);
  a.sharedDescales = (p.sharedDescales.q ? kSharedDescaleQ : 0) |
                     (p.sharedDescales.k ? kSharedDescaleK : 0) |
                     (p.sharedDescales.v ? kSharedDescaleV : 0);
  a.scaleLog2 = static_cast<float>(*p.scale * std::numbers::log2e);
  return a;
}

double AttentionPlan::flops() const {
  const AttentionProblem &p = checked.problem;
  double pairs = 0;
  for (const std::size_t sequence : sequences) {
    const SequenceLength &length = p.lengths[sequence];
    if (!p.causal && !p.window.isOn()) {
      pairs += static_cast<double>(length.q) * static_cast<double>(length.kv);
      continue;
    }
    if (p.window.isOn()) {
      for (std::int64_t query = 0; query < length.q; ++query)
        pairs += static_cast<double>(visibleKeys(p, length, query).count());
      continue;
    }
    // Row i sees i + 1 + kv - q keys, at least none.
    const std::int64_t seeing = std::min(length.q, length.kv);
    const auto last = static_cast<double>(length.kv);
    const auto first = last - static_cast<double>(seeing) + 1;
    pairs += static_cast<double>(seeing) * (first + last) / 2;
  }
  return 2 * pairs * static_cast<double>(p.heads) * (p.headDimQk + p.headDimV);
}

} // namespace wavesmith
