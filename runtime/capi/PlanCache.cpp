#include "runtime/capi/PlanCache.h"

#include <cstring>

namespace wavesmith::capi {
namespace {

std::uint64_t mix(std::uint64_t hash, std::span<const std::byte> bytes) {
  // Eight bytes a step, two products: quick, and every bit reaches every other.
  const auto step = [&](std::uint64_t word) {
    const auto product = static_cast<unsigned __int128>(hash ^ word) * 0x9e3779b97f4a7c15u;
    hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    step(word);
  }
  std::uint64_t rest = bytes.size();
  if (at < bytes.size())
    std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  step(rest);
  return hash;
}

} // namespace

std::uint64_t PlanCache::hash(const Key &key) {
  std::uint64_t hash = 0x57415645;
  for (const auto part : key)
    hash = mix(hash, part);
  return hash;
}

bool PlanCache::Entry::has(const Key &key) const {
  const std::byte *at = bytes.data();
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i].size() != sizes[i] ||
        (sizes[i] > 0 && std::memcmp(key[i].data(), at, sizes[i]) != 0))
      return false;
    at += sizes[i];
  }
  return true;
}

PlanCache::Entries::iterator PlanCache::lookup(const Key &key, std::uint64_t hash) {
  const auto [begin, end] = byHash_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (at->second->has(key))
      return at->second;
  return entries_.end();
}

std::shared_ptr<Plan> PlanCache::find(const Key &key, std::uint64_t hash) {
  const std::lock_guard lock(mutex_);
  const auto entry = lookup(key, hash);
  if (entry == entries_.end())
    return nullptr;
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->plan;
}

std::shared_ptr<Plan> PlanCache::add(const Key &key, std::uint64_t hash, std::shared_ptr<Plan> plan,
                                     std::uint64_t bytes) {
  Entry entry{hash, {}, {}, std::move(plan), bytes};
  for (std::size_t i = 0; i < key.size(); ++i) {
    entry.sizes[i] = key[i].size();
    entry.bytes.insert(entry.bytes.end(), key[i].begin(), key[i].end());
  }
  entry.cost += entry.bytes.size();
  Entries evicted; // ends after the lock
  const std::lock_guard lock(mutex_);
  if (const auto earlier = lookup(key, hash); earlier != entries_.end())
    return earlier->plan;
  bytes_ += entry.cost;
  entries_.push_front(std::move(entry));
  byHash_.emplace(hash, entries_.begin());
  while (entries_.size() > 1 && (entries_.size() > maxEntries_ || bytes_ > maxBytes_)) {
    const auto last = std::prev(entries_.end());
    const auto [begin, end] = byHash_.equal_range(last->hash);
    for (auto at = begin; at != end; ++at)
      if (at->second == last) {
        byHash_.erase(at);
        break;
      }
    bytes_ -= last->cost;
    evicted.splice(evicted.begin(), entries_, last);
  }
  return entries_.front().plan;
}

} // namespace wavesmith::capi
