#include "runtime/dispatch/AttentionPlan.h"

#include <algorithm>
#include <numbers>
#include <tuple>

namespace wavesmith {
namespace {

constexpr std::int64_t kBlock = kAttentionBlockM;

/// Keys that row block [q0, q0 + 256) can see: causal is aligned to the bottom right.
std::int64_t visibleKeys(const SequenceLength &length, std::int64_t q0, bool causal) {
  if (!causal)
    return length.kv;
  const std::int64_t rows = std::min(kBlock, length.q - q0);
  return std::clamp<std::int64_t>(q0 + rows + length.kv - length.q, 0, length.kv);
}

} // namespace

Expected<AttentionPlan> planAttention(const AttentionProblem &problem) {
  AttentionPlan plan;
  WAVESMITH_ASSIGN(plan.checked, checkProblem(problem));
  const CheckedProblem &c = plan.checked;
  const AttentionProblem &p = c.problem;

  std::int64_t units = 0;
  for (const SequenceLength &length : p.lengths)
    units += (length.q + kBlock - 1) / kBlock * p.heads;
  if (units > kMaxWorkUnits)
    return error(StatusCode::ResourceExhausted,
                 "the batch needs {} work units ({} sequences, {} heads); at most {} in one plan",
                 units, p.lengths.size(), p.heads, kMaxWorkUnits);
  plan.work.reserve(static_cast<std::size_t>(units));
  const std::int64_t group = p.heads / p.kvHeads;
  std::int64_t qBegin = 0, kvBegin = 0;
  for (const SequenceLength &length : p.lengths) {
    for (std::int64_t head = 0; head < p.heads; ++head)
      for (std::int64_t q0 = 0; q0 < length.q; q0 += kBlock) {
        AttentionWorkUnit unit{};
        unit.qBegin = static_cast<std::int32_t>(qBegin);
        unit.kvBegin = static_cast<std::int32_t>(kvBegin);
        unit.lenQ = static_cast<std::int32_t>(length.q);
        unit.lenKv = static_cast<std::int32_t>(length.kv);
        unit.q0 = static_cast<std::int32_t>(q0);
        unit.kv0 = 0;
        unit.kv1 = static_cast<std::int32_t>(visibleKeys(length, q0, p.causal));
        unit.head = static_cast<std::int32_t>(head);
        unit.kvHead = static_cast<std::int32_t>(head / group);
        unit.slot = -1;
        plan.work.push_back(unit);
      }
    qBegin += length.q;
    kvBegin += length.kv;
  }
  // The long ones first, or the last to start would run alone. The key is unique, so that equal
  // problems give equal plans; a head's units stay together.
  std::ranges::sort(plan.work, {}, [](const AttentionWorkUnit &u) {
    return std::tuple(u.kv0 - u.kv1, u.qBegin, u.head, u.q0);
  });

  const auto bytes = [](std::int64_t stride, const TensorShape &shape) {
    return stride * shape.elementBytes;
  };
  AttentionArguments &a = plan.arguments;
  a.qRowStride = bytes(c.q.rowStride, c.q);
  a.qHeadStride = bytes(c.q.headStride, c.q);
  a.kRowStride = bytes(c.k.rowStride, c.k);
  a.kHeadStride = bytes(c.k.headStride, c.k);
  a.vRowStride = bytes(c.v.rowStride, c.v);
  a.vHeadStride = bytes(c.v.headStride, c.v);
  a.outRowStride = bytes(c.out.rowStride, c.out);
  a.outHeadStride = bytes(c.out.headStride, c.out);
  a.lseHeadStride = bytes(c.lse.headStride, c.lse);
  a.scaleLog2 = static_cast<float>(*p.scale * std::numbers::log2e);
  return plan;
}

double AttentionPlan::flops() const {
  const AttentionProblem &p = checked.problem;
  double pairs = 0;
  for (const SequenceLength &length : p.lengths) {
    if (!p.causal) {
      pairs += static_cast<double>(length.q) * static_cast<double>(length.kv);
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
