#pragma once
// Plans by value: the bytes of a description and its lengths. The least recently used go when there
// are too many or their lists take too much; whoever holds one keeps it. Any thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace wavesmith::capi {

class Plan;

class PlanCache {
public:
  explicit PlanCache(std::size_t maxEntries, std::uint64_t maxBytes = std::uint64_t{256} << 20)
      : maxEntries_(maxEntries), maxBytes_(maxBytes) {}

  /// A description: its struct with every pointer and `size` cleared, the lists it points to, and
  /// what a context pass has settled for it.
  using Key = std::array<std::span<const std::byte>, 4>;
  static std::uint64_t hash(const Key &key);

  /// Null when there is none of that value.
  std::shared_ptr<Plan> find(const Key &key, std::uint64_t hash);
  /// Keeps the plan, which takes that many bytes; when another thread came first, gives that one's.
  std::shared_ptr<Plan> add(const Key &key, std::uint64_t hash, std::shared_ptr<Plan> plan,
                            std::uint64_t bytes);

private:
  struct Entry {
    std::uint64_t hash = 0;
    std::array<std::size_t, 4> sizes{}; ///< of the key's parts, which `bytes` holds one by one
    std::vector<std::byte> bytes;
    std::shared_ptr<Plan> plan;
    std::uint64_t cost = 0;

    bool has(const Key &key) const;
  };
  using Entries = std::list<Entry>;

  Entries::iterator lookup(const Key &key, std::uint64_t hash); ///< with the mutex held

  const std::size_t maxEntries_;
  const std::uint64_t maxBytes_;
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  Entries entries_; ///< most recently used first
  std::unordered_multimap<std::uint64_t, Entries::iterator> byHash_;
};

} // namespace wavesmith::capi
