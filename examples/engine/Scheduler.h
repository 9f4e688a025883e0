#pragma once
// Which tokens of which prompts the next step computes: prompts in the order in which they came,
// cut where the step is full. A step that ends one prompt begins the next, so lengths mix.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace engine {

struct Request {
  int id = 0;
  std::int32_t tokens = 0; ///< of the prompt
  int slot = -1;           ///< of the key/value cache; -1: none yet, or none any more
  std::int32_t done = 0;   ///< tokens in the cache
};

/// Neighbouring tokens of one prompt.
struct Chunk {
  int request = 0, slot = 0;
  std::int32_t begin = 0, count = 0; ///< `begin` tokens before it are in the cache
  std::int32_t end() const { return begin + count; }
};
using Step = std::vector<Chunk>;

class Scheduler {
public:
  Scheduler(const std::vector<std::int32_t> &prompts, std::int32_t tokensInStep, int slots)
      : tokensInStep_(tokensInStep), slotTaken_(static_cast<std::size_t>(slots)) {
    for (const std::int32_t tokens : prompts)
      requests_.push_back({static_cast<int>(requests_.size()), tokens, -1, 0});
  }

  const std::vector<Request> &requests() const { return requests_; }

  /// Empty when everything is done. What it names counts as done with the next call.
  Step next() {
    for (Request &request : requests_)
      if (request.slot >= 0 && request.done == request.tokens) {
        slotTaken_[static_cast<std::size_t>(request.slot)] = false;
        request.slot = -1;
      }
    Step step;
    std::int32_t room = tokensInStep_;
    for (Request &request : requests_) {
      if (request.done == request.tokens)
        continue;
      if (room == 0 || (request.slot < 0 && !takeSlot(request)))
        break;
      const std::int32_t count = std::min(room, request.tokens - request.done);
      step.push_back({request.id, request.slot, request.done, count});
      request.done += count;
      room -= count;
    }
    return step;
  }

private:
  /// The lowest free slot: the same lengths then meet the same addresses, and a graph serves again.
  bool takeSlot(Request &request) {
    const auto free = std::find(slotTaken_.begin(), slotTaken_.end(), false);
    if (free == slotTaken_.end())
      return false;
    *free = true;
    request.slot = static_cast<int>(free - slotTaken_.begin());
    return true;
  }

  std::int32_t tokensInStep_;
  std::vector<bool> slotTaken_;
  std::vector<Request> requests_;
};

} // namespace engine
