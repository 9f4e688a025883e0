#include "runtime/cache/MemoryCache.h"

#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace wavesmith {
namespace {

SharedCodeObject objectOf(std::size_t bytes) {
  auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes.resize(bytes);
  return blob;
}

TEST(MemoryCache, ManyCallersOneMaker) {
  MemoryCache cache(1000);
  std::atomic<int> made = 0;
  std::latch start(16);
  std::vector<std::thread> threads;
  std::vector<SharedCodeObject> objects(16);
  for (std::size_t t = 0; t < objects.size(); ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      objects[t] = *cache.getOrMake("k", [&]() -> Expected<SharedCodeObject> {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return objectOf(10);
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
  for (const SharedCodeObject &object : objects)
    EXPECT_EQ(object, objects[0]);
  const auto counters = cache.counters();
  EXPECT_EQ(counters.made, 1u);
  EXPECT_EQ(counters.waits + counters.hits, 15u);
}

TEST(MemoryCache, AnErrorReachesAllWaitersAndIsForgotten) {
  MemoryCache cache(1000);
  std::latch inside(1);
  std::atomic<bool> release = false;
  std::atomic<int> failed = 0;
  const auto fail = [&]() -> Expected<SharedCodeObject> {
    inside.count_down();
    while (!release)
      std::this_thread::yield();
    return Status(StatusCode::CompileFailed, "no luck");
  };
  const auto call = [&] {
    const auto result = cache.getOrMake("k", fail);
    if (!result && result.status().message() == "no luck")
      ++failed;
  };
  std::vector<std::thread> threads;
  threads.emplace_back(call);
  inside.wait();
  for (int t = 0; t < 8; ++t)
    threads.emplace_back(call);
  while (cache.counters().waits < 8)
    std::this_thread::yield();
  release = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 9);
  EXPECT_EQ(cache.counters().failures, 1u);
  EXPECT_TRUE(cache.getOrMake("k", []() -> Expected<SharedCodeObject> { return objectOf(1); }));
}

TEST(MemoryCache, EvictsTheLeastRecentlyUsed) {
  MemoryCache cache(100);
  std::string made;
  const auto get = [&](const std::string &key, std::size_t bytes) {
    MemoryCache::Outcome outcome{};
    const auto result = cache.getOrMake(
        key, [&]() -> Expected<SharedCodeObject> { return objectOf(bytes); }, &outcome);
    EXPECT_TRUE(result);
    return outcome;
  };
  using Outcome = MemoryCache::Outcome;
  EXPECT_EQ(get("a", 40), Outcome::Made);
  EXPECT_EQ(get("b", 40), Outcome::Made);
  EXPECT_EQ(get("a", 40), Outcome::Hit);
  EXPECT_EQ(get("c", 40), Outcome::Made); // pushes b out
  EXPECT_EQ(get("a", 40), Outcome::Hit);
  EXPECT_EQ(get("b", 40), Outcome::Made);
  EXPECT_LE(cache.bytes(), 100u);
  EXPECT_EQ(get("huge", 1000), Outcome::Made);
  EXPECT_EQ(get("huge", 1000), Outcome::Hit) << "the newest stays";
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(get("huge", 1000), Outcome::Made);
}

TEST(MemoryCache, MakersOfDifferentKeysRunInParallelAndMayNest) {
  MemoryCache cache(1000);
  std::latch both(2);
  const auto meet = [&]() -> Expected<SharedCodeObject> {
    both.arrive_and_wait();
    return cache.getOrMake("inner", []() -> Expected<SharedCodeObject> { return objectOf(1); });
  };
  std::thread other([&] { EXPECT_TRUE(cache.getOrMake("a", meet)); });
  EXPECT_TRUE(cache.getOrMake("b", meet));
  other.join();
}

TEST(MemoryCache, ChurnUnderManyThreads) {
  MemoryCache cache(50);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const int key = (i * 7 + t) % 13;
        const auto object =
            cache.getOrMake(std::to_string(key), [&]() -> Expected<SharedCodeObject> {
              if ((i + t) % 5 == 0)
                return Status(StatusCode::Internal, "sometimes");
              return objectOf(static_cast<std::size_t>(10 + key));
            });
        if (object) {
          EXPECT_EQ((*object)->bytes.size(), static_cast<std::size_t>(10 + key));
        } else {
          object.ignoreError("made to fail");
        }
        if (i % 100 == 0)
          cache.clear();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
} // namespace wavesmith
