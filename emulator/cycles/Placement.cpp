#include "emulator/cycles/Placement.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace wavesmith::emulator::cycles {
namespace {

/// One XCD. The workgroups of a compute unit share it: with fewer of them each is faster.
class Xcd {
public:
  Xcd(const Pace &pace, const Chip &chip, int index, Placement &placement)
      : pace_(pace), chip_(chip), index_(index), placement_(placement),
        cus_(static_cast<std::size_t>(chip.cusPerXcd)) {}

  void run() {
    next_ = static_cast<std::size_t>(index_);
    fill(0);
    while (!ends_.empty()) {
      // All that end now make room before the next ones are placed.
      double at = std::get<0>(ends_.top());
      while (!ends_.empty() && std::get<0>(ends_.top()) <= at) {
        auto [end, cu, version] = ends_.top();
        ends_.pop();
        if (version == cus_[cu].version) {
          finishFirst(cu, end);
          schedule(cu);
        }
      }
      fill(at);
    }
  }

private:
  struct Running {
    double left;        ///< clocks beside a full set of neighbours
    std::size_t placed; ///< into Placement::groups
  };
  struct Cu {
    std::vector<Running> running;
    double since = 0; ///< `left` is as of then
    int version = 0;
  };

  /// Clocks per clock of `left`.
  double slowness(std::size_t running) const {
    if (pace_.residents == 1)
      return 1;
    return pace_.alone + (1 - pace_.alone) * static_cast<double>(running - 1) /
                             static_cast<double>(pace_.residents - 1);
  }
  void advance(Cu &cu, double at) {
    if (!cu.running.empty()) {
      double done = (at - cu.since) / slowness(cu.running.size());
      for (Running &running : cu.running)
        running.left -= done;
      placement_.used += at - cu.since;
    }
    cu.since = at;
  }
  void fill(double at) {
    while (next_ < pace_.clocks.size()) {
      auto roomiest = std::min_element(cus_.begin(), cus_.end(), [](const Cu &a, const Cu &b) {
        return a.running.size() < b.running.size();
      });
      if (roomiest->running.size() >= static_cast<std::size_t>(pace_.residents))
        return;
      start(static_cast<std::size_t>(roomiest - cus_.begin()), at);
      next_ += static_cast<std::size_t>(chip_.xcds);
    }
  }
  void start(std::size_t index, double at) {
    Cu &cu = cus_[index];
    advance(cu, at);
    double clocks = pace_.clocks[next_];
    if (at > 0)
      clocks -= std::min(pace_.saving, clocks / 2);
    int place = 0;
    while (std::any_of(cu.running.begin(), cu.running.end(), [&](const Running &running) {
      return placement_.groups[running.placed].place == place;
    }))
      ++place;
    cu.running.push_back({clocks, placement_.groups.size()});
    placement_.groups.push_back({next_, index_, static_cast<int>(index), place, at, at});
    schedule(index);
  }
  static std::vector<Running>::iterator first(Cu &cu) {
    return std::min_element(cu.running.begin(), cu.running.end(),
                            [](const Running &a, const Running &b) { return a.left < b.left; });
  }
  void schedule(std::size_t index) {
    Cu &cu = cus_[index];
    ++cu.version;
    if (!cu.running.empty())
      ends_.push({cu.since + std::max(0.0, first(cu)->left) * slowness(cu.running.size()), index,
                  cu.version});
  }
  void finishFirst(std::size_t index, double at) {
    Cu &cu = cus_[index];
    advance(cu, at);
    auto done = first(cu);
    Placed &placed = placement_.groups[done->placed];
    placed.until = at;
    placement_.makespan = std::max(placement_.makespan, at);
    cu.running.erase(done);
  }

  using End = std::tuple<double, std::size_t, int>; ///< clock, compute unit, its version
  const Pace &pace_;
  const Chip &chip_;
  int index_;
  std::size_t next_ = 0; ///< workgroup
  Placement &placement_;
  std::vector<Cu> cus_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

} // namespace

Placement place(const Pace &pace, const Chip &chip) {
  Placement placement;
  for (int xcd = 0; xcd < chip.xcds; ++xcd)
    Xcd(pace, chip, xcd, placement).run();
  return placement;
}

} // namespace wavesmith::emulator::cycles
