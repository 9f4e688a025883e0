#pragma once
// Code objects in memory by key. The first caller of a key makes the object, others wait for the
// same result; an error reaches all who waited and is forgotten, so the next call may try again.
// The least recently used go when the byte bound is passed. Any thread.

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "runtime/provider/Provider.h"

namespace wavesmith {

class MemoryCache {
public:
  enum class Outcome { Hit, Waited, Made };
  struct Counters {
    std::uint64_t hits = 0, waits = 0, made = 0, failures = 0, evictions = 0;
  };
  using Make = std::function<Expected<SharedCodeObject>()>;

  explicit MemoryCache(std::uint64_t maxBytes) : maxBytes_(maxBytes) {}

  /// `make` runs without any lock held and may ask the cache for other keys.
  Expected<SharedCodeObject> getOrMake(const std::string &key, const Make &make,
                                       Outcome *outcome = nullptr);
  bool has(const std::string &key) const; ///< finished; does not count as a use
  void clear();                           ///< forgets finished entries; those being made stay
  Counters counters() const;
  std::uint64_t bytes() const; ///< of finished entries

private:
  // Not an Expected: many threads read one result, and a Status notes that it was read.
  struct Result {
    SharedCodeObject object;
    StatusCode code = StatusCode::Ok;
    std::string message;
  };
  struct Entry {
    std::shared_future<Result> result;
    std::uint64_t id = 0;    ///< tells this entry from a later one of the same key
    std::uint64_t bytes = 0; ///< 0 while it is being made
    std::list<std::string>::iterator use;
    bool finished = false;
  };
  void finish(const std::string &key, std::uint64_t id, const Result &result);
  void evict();

  const std::uint64_t maxBytes_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::list<std::string> uses_; ///< keys of finished entries, most recently used first
  std::uint64_t bytes_ = 0, nextId_ = 1;
  Counters counters_;
};

} // namespace wavesmith
