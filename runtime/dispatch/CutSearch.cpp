#include "runtime/dispatch/CutSearch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace wavesmith {
namespace {

std::int64_t granulesOf(std::int64_t keys) {
  return (keys + kSplitGranularity - 1) / kSplitGranularity;
}

/// Compute units by when they are free, and which workgroup goes where.
class FreeUnits {
public:
  explicit FreeUnits(const DeviceShape &shape)
      : queues_(static_cast<std::size_t>(std::max(shape.xcds, 1))) {
    for (int unit = 0; unit < shape.computeUnits; ++unit)
      queues_[static_cast<std::size_t>(unit) % queues_.size()].push(0);
  }

  /// Whether the next workgroup's XCD has a compute unit at all.
  bool any() const { return !queue().empty(); }
  /// When the next workgroup starts.
  double start() const { return queue().top(); }
  void place(double clocks) {
    Queue &free = queues_[next_ % queues_.size()];
    const double done = free.top() + clocks;
    free.pop();
    free.push(done);
    end_ = std::max(end_, done);
    ++next_;
  }
  double end() const { return end_; }

private:
  using Queue = std::priority_queue<double, std::vector<double>, std::greater<>>;

  const Queue &queue() const { return queues_[next_ % queues_.size()]; }

  std::vector<Queue> queues_;
  std::size_t next_ = 0;
  double end_ = 0;
};

/// Finds the first index from a given one on that was not taken yet.
class Untaken {
public:
  explicit Untaken(std::size_t count) : next_(count + 1) {
    std::iota(next_.begin(), next_.end(), std::size_t{0});
  }
  /// The count when there is none.
  std::size_t from(std::size_t index) {
    while (next_[index] != index)
      index = next_[index] = next_[next_[index]];
    return index;
  }
  void take(std::size_t index) { next_[index] = index + 1; }

private:
  std::vector<std::size_t> next_;
};

/// How the blocks are laid end to end.
enum class Laying : std::uint8_t {
  Falling,   ///< the largest first
  Alternate, ///< large and small in turn: small ones fill what the others leave
};

/// A call on a chip: what the search for the best cuts looks at.
class Search {
public:
  Search(std::vector<RowBlock> &blocks, const DeviceShape &shape, const WorkCosts &costs)
      : blocks_(blocks), shape_(shape), costs_(costs) {}

  std::optional<double> run();

private:
  void cutAll(std::int64_t pieceGranules) {
    for (RowBlock &block : blocks_)
      cutEqually(block, (granulesOf(block.keys) + pieceGranules - 1) / pieceGranules);
  }
  RowBlock &blockAt(std::size_t position, Laying laying) {
    if (laying == Laying::Falling)
      return blocks_[position];
    return blocks_[position % 2 ? blocks_.size() - 1 - position / 2 : position / 2];
  }
  /// Lays the blocks end to end over the compute units, each up to `capacity` clocks, in pieces of
  /// at least `shortest` keys. False when they do not fit.
  bool cutToCapacity(double capacity, std::int64_t shortest, Laying laying);
  /// Keeps the cuts as they are if they are the best so far.
  void consider(std::optional<double> capacity = std::nullopt);

  std::vector<RowBlock> &blocks_;
  const DeviceShape &shape_;
  const WorkCosts &costs_;
  double bestClocks_ = std::numeric_limits<double>::infinity();
  std::optional<double> bestCapacity_;
  std::vector<std::vector<std::int64_t>> best_;
  struct Piece {
    std::int64_t keys;
    bool split;
    auto operator<=>(const Piece &) const = default;
  };
  std::vector<Piece> pieces_;  ///< that become units; kept for its memory
  std::vector<double> clocks_; ///< of them, likewise
};

void Search::consider(std::optional<double> capacity) {
  std::int64_t slots = 0;
  pieces_.clear();
  for (const RowBlock &block : blocks_) {
    slots += block.split() ? static_cast<std::int64_t>(block.cuts.size()) + 1 : 0;
    block.forPieces([&](std::int64_t begin, std::int64_t end) {
      pieces_.push_back({end - begin, block.split()});
    });
  }
  // As buildWorkList() orders them without a capacity.
  std::ranges::sort(pieces_, std::greater());
  clocks_.clear();
  for (const Piece &piece : pieces_)
    clocks_.push_back(unitClocks(piece.keys, piece.split, costs_));
  const auto look = [&](double end, std::optional<double> by) {
    const double now = end + mergeClocks(slots, costs_);
    if (now >= bestClocks_)
      return;
    bestClocks_ = now;
    bestCapacity_ = by;
    best_.clear();
    for (const RowBlock &block : blocks_)
      best_.push_back(block.cuts);
  };
  look(makespan(clocks_, shape_), std::nullopt);
  if (!capacity)
    return;
  std::ranges::sort(clocks_, std::greater());
  look(fittingOrder(clocks_, shape_, *capacity).end, capacity);
}

bool Search::cutToCapacity(double capacity, std::int64_t shortest, Laying laying) {
  int unit = 0;
  double left = capacity;
  for (std::size_t position = 0; position < blocks_.size(); ++position) {
    RowBlock &block = blockAt(position, laying);
    block.cuts.clear();
    std::int64_t begin = 0;
    while (true) {
      const double rest = unitClocks(block.keys - begin, begin > 0, costs_);
      if (rest <= left) {
        left -= rest;
        break;
      }
      const double room = (left - costs_.perUnit - costs_.perPartial) / costs_.perKey;
      const std::int64_t keys = room <= 0
                                    ? 0
                                    : std::min(static_cast<std::int64_t>(room) / kSplitGranularity,
                                               granulesOf(block.keys - begin) - 1) *
                                          kSplitGranularity;
      if (keys >= shortest && block.cuts.size() + 1 < kMaxSplits) {
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

std::optional<double> Search::run() {
  for (RowBlock &block : blocks_)
    cutEqually(block, 1);
  const auto units = static_cast<std::size_t>(shape_.computeUnits);
  if (blocks_.empty() || blocks_.size() >= kRoundsWithoutSplits * units)
    return std::nullopt;
  consider();
  double work = 0, longest = 0;
  for (const RowBlock &block : blocks_) {
    const double clocks = unitClocks(block.keys, false, costs_);
    work += clocks;
    longest = std::max(longest, clocks);
  }
  const double floor = work / shape_.computeUnits;
  if (bestClocks_ <= kGoodEnough * floor)
    return std::nullopt;

  // Equal pieces, so that the longest block comes in 2, 3, ...
  const std::int64_t granules =
      granulesOf(std::ranges::max_element(blocks_, {}, &RowBlock::keys)->keys);
  for (std::int64_t pieces = 2; pieces <= std::min<std::int64_t>(16, granules); ++pieces) {
    cutAll((granules + pieces - 1) / pieces);
    consider();
  }
  // Unequal ones: the smallest share that lets every compute unit do the same. Short pieces use
  // what is left of a share, and pay for another start.
  for (const Laying laying : {Laying::Falling, Laying::Alternate})
    for (const std::int64_t shortest : {4, 2}) {
      double low = floor, high = std::max(longest, floor) + costs_.perPartial;
      constexpr int kSteps = 10;
      for (int step = 0; step < kSteps; ++step) {
        const double capacity = (low + high) / 2;
        if (cutToCapacity(capacity, shortest * kSplitGranularity, laying)) {
          consider(capacity);
          high = capacity;
        } else {
          low = capacity;
        }
      }
    }
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].cuts = std::move(best_[i]);
  return bestCapacity_;
}

} // namespace

void cutEqually(RowBlock &block, std::int64_t pieces) {
  const std::int64_t granules = granulesOf(block.keys);
  pieces = std::clamp<std::int64_t>(pieces, 1, std::clamp<std::int64_t>(granules, 1, kMaxSplits));
  block.cuts.clear();
  for (std::int64_t i = 1; i < pieces; ++i)
    block.cuts.push_back(granules * i / pieces * kSplitGranularity);
}

double makespan(std::span<const double> clocks, const DeviceShape &shape) {
  FreeUnits units(shape);
  for (const double unit : clocks) {
    if (!units.any())
      return std::numeric_limits<double>::infinity();
    units.place(unit);
  }
  return units.end();
}

UnitOrder fittingOrder(std::span<const double> clocks, const DeviceShape &shape, double capacity) {
  UnitOrder result;
  result.order.reserve(clocks.size());
  FreeUnits units(shape);
  Untaken untaken(clocks.size());
  std::size_t smallest = clocks.size();
  std::vector<bool> taken(clocks.size());
  while (result.order.size() < clocks.size()) {
    if (!units.any()) {
      result.end = std::numeric_limits<double>::infinity();
      return result;
    }
    const double room = capacity - units.start();
    std::size_t index = untaken.from(static_cast<std::size_t>(
        std::ranges::lower_bound(clocks, room, std::greater()) - clocks.begin()));
    if (index == clocks.size()) {
      while (taken[smallest - 1])
        --smallest;
      index = smallest - 1;
    }
    taken[index] = true;
    untaken.take(index);
    units.place(clocks[index]);
    result.order.push_back(index);
  }
  result.end = units.end();
  return result;
}

std::optional<double> searchCuts(std::vector<RowBlock> &blocks, const DeviceShape &shape,
                                 const WorkCosts &costs) {
  return Search(blocks, shape, costs).run();
}

} // namespace wavesmith
