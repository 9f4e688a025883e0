// Plans by value from inside: what is equal, and what goes when there is too much.

#include "runtime/capi/PlanCache.h"

#include <string>

#include <gtest/gtest.h>

namespace wavesmith::capi {
namespace {

/// The cache never looks at a plan, so any address will do.
std::shared_ptr<Plan> somePlan() {
  const auto owner = std::make_shared<int>(0);
  return {owner, reinterpret_cast<Plan *>(owner.get())};
}

struct Value {
  std::string description, first, second;
  PlanCache::Key key() const {
    const auto bytes = [](const std::string &text) { return std::as_bytes(std::span(text)); };
    return {bytes(description), bytes(first), bytes(second)};
  }
  std::uint64_t hash() const { return PlanCache::hash(key()); }
};

std::shared_ptr<Plan> add(PlanCache &cache, const Value &value, std::uint64_t bytes = 0) {
  return cache.add(value.key(), value.hash(), somePlan(), bytes);
}
std::shared_ptr<Plan> find(PlanCache &cache, const Value &value) {
  return cache.find(value.key(), value.hash());
}

TEST(PlanCache, TellsApartWhereOneListEndsAndTheNextBegins) {
  PlanCache cache(10);
  const Value one{"d", "12", "3"}, other{"d", "1", "23"}, third{"d1", "2", "3"};
  const auto plan = add(cache, one);
  EXPECT_EQ(find(cache, one), plan);
  EXPECT_EQ(find(cache, other), nullptr);
  // Even where a hash would not.
  EXPECT_EQ(cache.find(other.key(), one.hash()), nullptr);
  EXPECT_EQ(cache.find(third.key(), one.hash()), nullptr);
}

TEST(PlanCache, TheFirstOfTwoStays) {
  PlanCache cache(10);
  const Value value{"d", "", ""};
  const auto first = add(cache, value);
  EXPECT_EQ(add(cache, value), first);
}

TEST(PlanCache, TheLeastRecentlyUsedGoesByNumber) {
  PlanCache cache(2);
  const Value a{"a", "", ""}, b{"b", "", ""}, c{"c", "", ""};
  add(cache, a);
  add(cache, b);
  EXPECT_NE(find(cache, a), nullptr);
  add(cache, c);
  EXPECT_EQ(find(cache, b), nullptr);
  EXPECT_NE(find(cache, a), nullptr);
  EXPECT_NE(find(cache, c), nullptr);
}

TEST(PlanCache, AndByBytesButNotTheNewest) {
  PlanCache cache(10, 1000);
  const Value a{"a", "", ""}, b{"b", "", ""}, c{"c", "", ""};
  const auto kept = add(cache, a, 600);
  add(cache, b, 300);
  EXPECT_NE(find(cache, a), nullptr);
  add(cache, c, 5000); // more than the bound alone
  EXPECT_EQ(find(cache, a), nullptr);
  EXPECT_EQ(find(cache, b), nullptr);
  EXPECT_NE(find(cache, c), nullptr);
  EXPECT_EQ(kept.use_count(), 1) << "whoever holds a plan keeps it";
  add(cache, a, 600);
  EXPECT_EQ(find(cache, c), nullptr);
  EXPECT_NE(find(cache, a), nullptr);
}

} // namespace
} // namespace wavesmith::capi
