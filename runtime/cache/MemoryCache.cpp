#include "runtime/cache/MemoryCache.h"

namespace wavesmith {

bool MemoryCache::has(const std::string &key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.finished;
}

Expected<SharedCodeObject> MemoryCache::getOrMake(const std::string &key, const Make &make,
                                                  Outcome *outcome) {
  std::promise<Result> promise;
  std::shared_future<Result> result;
  std::uint64_t id = 0;
  Outcome how = Outcome::Made;
  {
    const std::lock_guard lock(mutex_);
    const auto [position, inserted] = entries_.try_emplace(key);
    Entry &entry = position->second;
    if (inserted) {
      id = entry.id = nextId_++;
      entry.result = promise.get_future().share();
      ++counters_.made;
    } else if (entry.finished) {
      uses_.splice(uses_.begin(), uses_, entry.use);
      how = Outcome::Hit;
      ++counters_.hits;
    } else {
      how = Outcome::Waited;
      ++counters_.waits;
    }
    result = entry.result;
  }
  if (how == Outcome::Made) {
    Expected<SharedCodeObject> made = make();
    Result value;
    if (made) {
      value.object = *std::move(made);
    } else {
      const Status status = made.status();
      value.code = status.code();
      value.message = status.message();
    }
    // The entry changes first: who asks after a waiter has seen the error must be able to retry.
    finish(key, id, value);
    promise.set_value(std::move(value));
  }
  if (outcome)
    *outcome = how;
  const Result &value = result.get();
  if (!value.object)
    return Status(value.code, value.message);
  return value.object;
}

void MemoryCache::finish(const std::string &key, std::uint64_t id, const Result &result) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.id != id)
    return;
  if (!result.object) {
    ++counters_.failures;
    entries_.erase(found);
    return;
  }
  Entry &entry = found->second;
  entry.finished = true;
  entry.bytes = result.object->bytes.size();
  bytes_ += entry.bytes;
  uses_.push_front(key);
  entry.use = uses_.begin();
  evict();
}

void MemoryCache::evict() {
  // The newest stays even if it alone is over the bound: it is about to be used.
  while (bytes_ > maxBytes_ && uses_.size() > 1) {
    const auto found = entries_.find(uses_.back());
    bytes_ -= found->second.bytes;
    entries_.erase(found);
    uses_.pop_back();
    ++counters_.evictions;
  }
}

void MemoryCache::clear() {
  const std::lock_guard lock(mutex_);
  for (const std::string &key : uses_)
    entries_.erase(key);
  uses_.clear();
  bytes_ = 0;
}

MemoryCache::Counters MemoryCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::uint64_t MemoryCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

} // namespace wavesmith
