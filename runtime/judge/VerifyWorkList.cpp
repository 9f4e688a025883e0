// work_list against a plain enumeration of the batch, field by field.

#include <algorithm>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/judge/RowRun.h"

namespace wavesmith::judge {
namespace {

struct Batch {
  std::vector<SequenceLength> lengths;
  std::int32_t heads, group;
  std::int32_t queries, keys; ///< what the tensors have room for
};

/// Keys that a query sees around its own position.
struct Sides {
  std::int32_t left, right;
};
constexpr Sides kSides[] = {{kNoWindow, kNoWindow}, {kNoWindow, 0}, {100, 0}, {0, 30}, {90, 400}};

/// `blocks` row blocks, those past the last with neither queries nor keys.
std::vector<AttentionWorkUnit> unitsOf(const Batch &batch, Sides sides, std::int32_t blocks) {
  std::vector<AttentionWorkUnit> units;
  const auto addBlock = [&](AttentionWorkUnit unit) {
    for (unit.head = 0; unit.head < batch.heads; ++unit.head) {
      unit.kvHead = unit.head / batch.group;
      units.push_back(unit);
    }
  };
  std::int32_t q = 0, kv = 0;
  for (const SequenceLength &length : batch.lengths) {
    const auto lenQ = static_cast<std::int32_t>(length.q);
    const auto lenKv = static_cast<std::int32_t>(length.kv);
    const bool fits = q + lenQ <= batch.queries && kv + lenKv <= batch.keys;
    for (std::int32_t q0 = 0; fits && q0 < lenQ; q0 += kAttentionBlockM) {
      // Row r stands at r + lenKv - lenQ.
      const std::int32_t last = std::min(q0 + kAttentionBlockM, lenQ) - 1, shift = lenKv - lenQ;
      const std::int32_t begin = std::max(q0 + shift - sides.left, 0);
      const std::int32_t end = std::min(last + shift + sides.right + 1, lenKv);
      const bool sees = begin < end;
      addBlock({.qBegin = q,
                .kvBegin = kv,
                .lenQ = lenQ,
                .lenKv = lenKv,
                .q0 = q0,
                .kv0 = sees ? begin : 0,
                .kv1 = sees ? end : 0,
                .slot = -1,
                .sink = 1});
    }
    q += lenQ;
    kv += lenKv;
  }
  while (units.size() < static_cast<std::size_t>(blocks * batch.heads))
    addBlock({.slot = -1, .sink = 1});
  return units;
}

/// `surplus` units more than the batch needs.
Status verifyBatch(RowRun &run, const Batch &batch, Sides sides, std::int32_t surplus) {
  const std::int32_t blocks =
      static_cast<std::int32_t>(unitsOf(batch, sides, 0).size()) / batch.heads + surplus;
  const std::vector<AttentionWorkUnit> expected = unitsOf(batch, sides, blocks);
  std::vector<std::int32_t> q = {0}, kv = {0};
  for (const SequenceLength &length : batch.lengths) {
    q.push_back(q.back() + static_cast<std::int32_t>(length.q));
    kv.push_back(kv.back() + static_cast<std::int32_t>(length.kv));
  }
  // One more than the launch may touch.
  std::vector<std::byte> units((expected.size() + 1) * sizeof(AttentionWorkUnit), kCanary);
  WAVESMITH_ASSIGN(const DeviceBuffer dq, run.upload(q));
  WAVESMITH_ASSIGN(const DeviceBuffer dkv, run.upload(kv));
  WAVESMITH_ASSIGN(const DeviceBuffer dunits, run.upload(units));
  WorkListArguments a{};
  a.qOffsets = dq.address();
  a.kvOffsets = dkv.address();
  a.qOffsetStride = a.kvOffsetStride = sizeof(std::int32_t);
  a.units = dunits.address();
  a.unitStride = sizeof(AttentionWorkUnit);
  a.sequences = static_cast<std::int32_t>(batch.lengths.size());
  a.heads = batch.heads;
  a.group = batch.group;
  a.queries = batch.queries;
  a.keys = batch.keys;
  a.left = sides.left;
  a.right = sides.right;
  WAVESMITH_TRY(
      run.run({static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(a.heads)}, a));
  WAVESMITH_TRY(dunits.download(units));
  const std::span<const std::byte> bytes(units);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!std::ranges::equal(bytes.subspan(i * sizeof(AttentionWorkUnit), sizeof(AttentionWorkUnit)),
                            std::as_bytes(std::span(&expected[i], 1))))
      return wrong("unit {} of {} is not sequence row {} block {} head {} with keys {} to {}", i,
                   expected.size(), expected[i].qBegin, expected[i].q0, expected[i].head,
                   expected[i].kv0, expected[i].kv1);
  if (std::ranges::any_of(bytes.last(sizeof(AttentionWorkUnit)),
                          [](std::byte b) { return b != kCanary; }))
    return wrong("the unit past the last was written");
  return Status::ok();
}

} // namespace

Status verifyWorkList(RowRun &run, int variant) {
  const auto with = [](SequenceLength last, SequenceLength beyond, std::int32_t queries) {
    return Batch{{{0, 7}, {255, 256}, {256, 0}, {257, 90}, {1, 1000}, {700, 300}, last, beyond},
                 6,
                 3,
                 queries,
                 1661};
  };
  for (const Sides sides : kSides) {
    if (variant == 0) {
      WAVESMITH_TRY(verifyBatch(run, {{{1, 1}}, 1, 1, 1, 1}, sides, 0));
      continue;
    }
    WAVESMITH_TRY(verifyBatch(run, with({0, 9}, {1, 0}, 1469), sides, 4)); // too many of both
    WAVESMITH_TRY(verifyBatch(run, with({0, 8}, {1, 0}, 1469), sides, 4)); // a query too many
    WAVESMITH_TRY(verifyBatch(run, with({0, 8}, {1, 1}, 1470), sides, 4)); // a key too many
  }
  return Status::ok();
}

} // namespace wavesmith::judge
