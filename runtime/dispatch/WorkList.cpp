#include "runtime/dispatch/WorkList.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace wavesmith {
namespace {

constexpr std::int64_t kBlock = kAttentionBlockM;

/// One row block of one head, and where its keys are cut.
struct Block {
  std::int32_t sequence, q0, head;
  std::int64_t first;             ///< of the keys that some of its rows can see
  std::int64_t keys;              ///< their number
  std::vector<std::int64_t> cuts; ///< between its pieces; none: it is whole

  bool split() const { return !cuts.empty(); }
  /// Calls visit(begin, end) for each piece, counted from the first key.
  template <typename Visit> void forPieces(const Visit &visit) const {
    std::int64_t begin = 0;
    for (const std::int64_t cut : cuts)
      visit(std::exchange(begin, cut), cut);
    visit(begin, keys);
  }
};

/// Keys that row block [q0, q0 + 256) can see: neither end of what a row sees falls with the row.
KeyRange keysOfBlock(const AttentionProblem &problem, const SequenceLength &length,
                     std::int64_t q0) {
  const std::int64_t last = std::min(q0 + kBlock, length.q) - 1;
  KeyRange keys{visibleKeys(problem, length, q0).begin, visibleKeys(problem, length, last).end};
  return keys.count() > 0 ? keys : KeyRange{};
}

std::int64_t granulesOf(std::int64_t keys) {
  return (keys + kSplitGranularity - 1) / kSplitGranularity;
}

/// Whole granules, as equal as they come.
void cutEqually(Block &block, std::int64_t pieces) {
  const std::int64_t granules = granulesOf(block.keys);
  pieces = std::clamp<std::int64_t>(pieces, 1, std::clamp<std::int64_t>(granules, 1, kMaxSplits));
  block.cuts.clear();
  for (std::int64_t i = 1; i < pieces; ++i)
    block.cuts.push_back(granules * i / pieces * kSplitGranularity);
}

/// A unit as far as its time goes; the heavier is the greater.
struct Piece {
  std::int64_t keys;
  bool split;

  auto operator<=>(const Piece &) const = default;
};

double callClocks(const std::vector<Piece> &pieces, std::size_t slots, const DeviceShape &shape,
                  const WorkCosts &costs) {
  std::vector<double> clocks;
  clocks.reserve(pieces.size());
  for (const Piece &piece : pieces)
    clocks.push_back(static_cast<double>(piece.keys) * costs.perKey + costs.perUnit +
                     (piece.split ? costs.perPartial : 0));
  return makespan(clocks, shape) +
         (slots ? costs.combine + costs.perSlot * static_cast<double>(slots) : 0);
}

/// A call on a chip: what the search for the best cuts looks at.
class Search {
public:
  Search(std::vector<Block> &blocks, const DeviceShape &shape, const WorkCosts &costs)
      : blocks_(blocks), shape_(shape), costs_(costs) {}

  /// Leaves the blocks with the cuts that are estimated to end first.
  void run();

private:
  void cutAll(std::int64_t pieceGranules) {
    for (Block &block : blocks_)
      cutEqually(block, (granulesOf(block.keys) + pieceGranules - 1) / pieceGranules);
  }
  /// Lays the blocks end to end over the compute units, each up to `capacity` clocks. False when
  /// they do not fit.
  bool cutToCapacity(double capacity);
  double clocks() const;
  void consider() {
    const double now = clocks();
    if (now >= bestClocks_)
      return;
    bestClocks_ = now;
    best_.clear();
    for (const Block &block : blocks_)
      best_.push_back(block.cuts);
  }

  std::vector<Block> &blocks_;
  const DeviceShape &shape_;
  const WorkCosts &costs_;
  double bestClocks_ = std::numeric_limits<double>::infinity();
  std::vector<std::vector<std::int64_t>> best_;
};

double Search::clocks() const {
  std::vector<Piece> pieces;
  std::size_t slots = 0;
  for (const Block &block : blocks_) {
    slots += block.split() ? block.cuts.size() + 1 : 0;
    block.forPieces([&](std::int64_t begin, std::int64_t end) {
      pieces.push_back({end - begin, block.split()});
    });
  }
  std::ranges::sort(pieces, std::greater());
  return callClocks(pieces, slots, shape_, costs_);
}

bool Search::cutToCapacity(double capacity) {
  // A piece shorter than this is hardly worth its own start.
  constexpr std::int64_t kShortest = 4 * kSplitGranularity;
  int unit = 0;
  double left = capacity;
  for (Block &block : blocks_) {
    block.cuts.clear();
    std::int64_t begin = 0;
    while (true) {
      const double start = costs_.perUnit + (begin > 0 ? costs_.perPartial : 0);
      if (start + static_cast<double>(block.keys - begin) * costs_.perKey <= left) {
        left -= start + static_cast<double>(block.keys - begin) * costs_.perKey;
        break;
      }
      const double room = (left - costs_.perUnit - costs_.perPartial) / costs_.perKey;
      const std::int64_t keys = room <= 0
                                    ? 0
                                    : std::min(static_cast<std::int64_t>(room) / kSplitGranularity,
                                               granulesOf(block.keys - begin) - 1) *
                                          kSplitGranularity;
      if (keys >= kShortest && block.cuts.size() + 1 < kMaxSplits) {
        begin += keys;
        block.cuts.push_back(begin);
      } else if (left == capacity) {
        return false; // not even an empty unit takes a piece of it
      }
      if (++unit == shape_.computeUnits)
        return false;
      left = capacity;
    }
  }
  return true;
}

/// Above this the grid is many rounds deep and splitting has nothing to win.
constexpr std::size_t kRoundsWithoutSplits = 16;
/// A plan this close to perfect balance is left alone.
constexpr double kGoodEnough = 1.02;

void Search::run() {
  for (Block &block : blocks_)
    cutEqually(block, 1);
  const auto units = static_cast<std::size_t>(shape_.computeUnits);
  if (blocks_.empty() || blocks_.size() >= kRoundsWithoutSplits * units)
    return;
  consider();
  double work = 0, longest = 0;
  for (const Block &block : blocks_) {
    const double clocks = costs_.perUnit + static_cast<double>(block.keys) * costs_.perKey;
    work += clocks;
    longest = std::max(longest, clocks);
  }
  const double floor = work / shape_.computeUnits;
  if (bestClocks_ <= kGoodEnough * floor)
    return;

  // Equal pieces, so that the longest block comes in 2, 3, ...
  const std::int64_t granules =
      granulesOf(std::ranges::max_element(blocks_, {}, &Block::keys)->keys);
  for (std::int64_t pieces = 2; pieces <= std::min<std::int64_t>(16, granules); ++pieces) {
    cutAll((granules + pieces - 1) / pieces);
    consider();
  }
  // Unequal ones: the smallest share that lets every compute unit do the same.
  double low = floor, high = std::max(longest, floor) + costs_.perPartial;
  constexpr int kSteps = 12;
  for (int step = 0; step < kSteps; ++step) {
    const double capacity = (low + high) / 2;
    if (cutToCapacity(capacity)) {
      consider();
      high = capacity;
    } else {
      low = capacity;
    }
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].cuts = std::move(best_[i]);
}

} // namespace

DeviceShape deviceShape(std::string_view target, int computeUnits) {
  const bool cdna4 = target == "gfx950";
  if (computeUnits <= 0)
    computeUnits = cdna4 ? 256 : 304;
  // Active units of an XCD: 32 on MI350X and MI355X; 38 on MI300X and MI325X, 20 on MI308X.
  for (const int perXcd : {cdna4 ? 32 : 38, 20})
    if (computeUnits % perXcd == 0)
      return {computeUnits, computeUnits / perXcd};
  return {computeUnits, 1};
}

double makespan(std::span<const double> clocks, const DeviceShape &shape) {
  using Queue = std::priority_queue<double, std::vector<double>, std::greater<>>;
  const int xcds = std::max(shape.xcds, 1);
  std::vector<Queue> free(static_cast<std::size_t>(xcds));
  for (int unit = 0; unit < shape.computeUnits; ++unit)
    free[static_cast<std::size_t>(unit % xcds)].push(0);
  double end = 0;
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    Queue &queue = free[i % free.size()];
    if (queue.empty())
      return std::numeric_limits<double>::infinity();
    const double done = queue.top() + clocks[i];
    queue.pop();
    queue.push(done);
    end = std::max(end, done);
  }
  return end;
}

WorkList buildWorkList(const AttentionProblem &problem, std::span<const std::size_t> sequences,
                       int splits, const DeviceShape &shape, const WorkCosts &costs) {
  std::vector<Block> blocks;
  std::vector<std::int32_t> qBegin, kvBegin;
  std::int64_t totalQ = 0, totalKv = 0;
  for (std::size_t i = 0; i < problem.lengths.size(); ++i) {
    const SequenceLength &length = problem.lengths[i];
    qBegin.push_back(static_cast<std::int32_t>(totalQ));
    kvBegin.push_back(static_cast<std::int32_t>(totalKv));
    totalQ += length.q;
    totalKv += length.kv;
  }
  for (const std::size_t i : sequences) {
    const SequenceLength &length = problem.lengths[i];
    for (std::int64_t q0 = 0; q0 < length.q; q0 += kBlock)
      for (std::int64_t head = 0; head < problem.heads; ++head) {
        const KeyRange keys = keysOfBlock(problem, length, q0);
        blocks.push_back({static_cast<std::int32_t>(i),
                          static_cast<std::int32_t>(q0),
                          static_cast<std::int32_t>(head),
                          keys.begin,
                          keys.count(),
                          {}});
      }
  }
  std::ranges::sort(blocks, {}, [](const Block &block) {
    return std::tuple(-block.keys, block.sequence, block.q0, block.head);
  });
  if (splits == 0)
    Search(blocks, shape, costs).run();
  else
    for (Block &block : blocks)
      cutEqually(block, splits);

  WorkList list;
  const std::int64_t group = problem.heads / problem.kvHeads;
  for (const Block &block : blocks) {
    const auto sequence = static_cast<std::size_t>(block.sequence);
    const SequenceLength &length = problem.lengths[sequence];
    AttentionWorkUnit unit{};
    unit.qBegin = qBegin[sequence];
    unit.kvBegin = kvBegin[sequence];
    unit.lenQ = static_cast<std::int32_t>(length.q);
    unit.lenKv = static_cast<std::int32_t>(length.kv);
    unit.q0 = block.q0;
    unit.head = block.head;
    unit.kvHead = static_cast<std::int32_t>(block.head / group);
    if (block.split())
      list.merges.push_back(
          {.firstRow = unit.qBegin + unit.q0,
           .rows = static_cast<std::int32_t>(std::min<std::int64_t>(kBlock, length.q - block.q0)),
           .head = unit.head,
           .slot = static_cast<std::int32_t>(list.slots),
           .slots = static_cast<std::int32_t>(block.cuts.size() + 1),
           .reserved = {}});
    block.forPieces([&](std::int64_t begin, std::int64_t end) {
      unit.kv0 = static_cast<std::int32_t>(block.first + begin);
      unit.kv1 = static_cast<std::int32_t>(block.first + end);
      unit.sink = begin == 0; // one piece of the block
      unit.slot = block.split() ? static_cast<std::int32_t>(list.slots++) : -1;
      list.units.push_back(unit);
    });
  }

  // The long ones first, or the last to start would run alone. Among equals the key/value heads
  // alternate fastest: with a multiple of the XCDs of them, each stays in the L2 of one XCD. The
  // key is unique, so equal problems give equal lists.
  std::ranges::sort(list.units, {}, [group](const AttentionWorkUnit &u) {
    return std::tuple(u.kv0 - u.kv1, u.slot < 0, u.qBegin, u.q0, u.kv0, u.head % group, u.kvHead);
  });
  std::vector<Piece> pieces;
  pieces.reserve(list.units.size());
  for (const AttentionWorkUnit &unit : list.units)
    pieces.push_back({unit.kv1 - unit.kv0, unit.slot >= 0});
  list.clocks = callClocks(pieces, static_cast<std::size_t>(list.slots), shape, costs);
  return list;
}

} // namespace wavesmith
