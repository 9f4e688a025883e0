#include "runtime/cache/DiskCache.h"

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/support/Log.h"
#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using namespace std::chrono_literals;
using test::mainJobSpec;
using ::testing::HasSubstr;

SharedCodeObject objectOf(std::string_view text) {
  auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes = test::bytesOf(text);
  blob->kernelName = "ws_kernel";
  blob->provider = "jit";
  blob->compileMs = 7;
  blob->verification = "{}";
  return blob;
}

struct DiskCacheTest : ::testing::Test {
  test::TestDirectory scratch;
  DiskCacheOptions options{.directory = scratch / "cache"};
  KernelSpec spec = mainJobSpec();
};

TEST_F(DiskCacheTest, NothingIsCreatedBeforeTheFirstWrite) {
  DiskCache cache(options);
  EXPECT_EQ(cache.get(spec).status().code(), StatusCode::NotFound);
  EXPECT_TRUE(cache.list().empty());
  EXPECT_FALSE(std::filesystem::exists(options.directory));
}

TEST_F(DiskCacheTest, AnotherInstanceFindsWhatOneStored) {
  DiskCache(options).put(spec, objectOf("code"));
  DiskCache cache(options);
  const auto object = cache.get(spec);
  ASSERT_TRUE(object) << object.status().message();
  EXPECT_EQ((*object)->bytes, test::bytesOf("code"));
  EXPECT_EQ((*object)->kernelName, "ws_kernel");
  EXPECT_EQ((*object)->provider, "disk");
  EXPECT_EQ((*object)->compileMs, 0);
  EXPECT_EQ((*object)->verification, "{}");
  EXPECT_EQ(cache.list(), std::vector<KernelSpec>{spec});
  struct ::stat info{};
  ASSERT_EQ(::stat(options.directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  ASSERT_EQ(::stat(cache.entryPath(spec).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u) << "never executable";
}

TEST_F(DiskCacheTest, AnotherToolchainIsAMiss) {
  DiskCache(options).put(spec, objectOf("code"));
  options.toolchain.compilerBuild = "other";
  EXPECT_EQ(DiskCache(options).get(spec).status().code(), StatusCode::NotFound);
}

TEST_F(DiskCacheTest, AnEntryUnderAForeignNameIsDamaged) {
  DiskCache cache(options);
  cache.put(spec, objectOf("code"));
  KernelSpec other = spec;
  other.attention.causal = false;
  std::filesystem::rename(cache.entryPath(spec), cache.entryPath(other));
  EXPECT_EQ(cache.get(other).status().code(), StatusCode::NotFound);
  EXPECT_EQ(cache.counters().damaged, 1u);
}

TEST_F(DiskCacheTest, EvictsOldestFirstAndDamagedBeforeAll) {
  std::vector<KernelSpec> specs;
  DiskCache cache(options);
  for (int i = 0; i < 4; ++i) {
    KernelSpec one = spec;
    one.schedule = "s" + std::to_string(i);
    specs.push_back(one);
    cache.put(one, objectOf(std::string(100'000, 'x')));
    // An hour apart, oldest first.
    const auto time = std::filesystem::file_time_type::clock::now() - 10h + i * 1h;
    std::filesystem::last_write_time(cache.entryPath(one), time);
  }
  ASSERT_TRUE(cache.get(specs[0])); // moves up
  ASSERT_TRUE(cache.prune(310'000));
  EXPECT_TRUE(cache.get(specs[0]));
  EXPECT_FALSE(std::filesystem::exists(cache.entryPath(specs[1])));
  EXPECT_TRUE(cache.get(specs[2]));
  EXPECT_TRUE(cache.get(specs[3]));
  std::filesystem::rename(cache.entryPath(specs[3]), cache.entryPath(specs[3]) + ".damaged");
  ASSERT_TRUE(cache.prune(210'000));
  EXPECT_FALSE(std::filesystem::exists(cache.entryPath(specs[3]) + ".damaged"));
  EXPECT_TRUE(cache.get(specs[2]));
  EXPECT_EQ(cache.counters().evicted, 2u);
}

TEST_F(DiskCacheTest, PutKeepsTheBound) {
  options.maxBytes = 250'000;
  DiskCache cache(options);
  for (int i = 0; i < 6; ++i) {
    spec.schedule = "s" + std::to_string(i);
    cache.put(spec, objectOf(std::string(100'000, 'x')));
    EXPECT_TRUE(cache.get(spec)) << "the newest is there";
  }
  EXPECT_EQ(cache.list().size(), 2u);
}

TEST_F(DiskCacheTest, LeftoversOfKilledWritersGoAfterAnHour) {
  DiskCache cache(options);
  cache.put(spec, objectOf("code"));
  for (const char *name : {".tmp-1-2", "x.lock"}) {
    const std::string path = options.directory + "/" + name;
    ASSERT_TRUE(publishFile(path, asBytes("half")).isOk());
    ASSERT_TRUE(cache.prune(1 << 20));
    EXPECT_TRUE(std::filesystem::exists(path)) << "may be in use";
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - 2h);
    ASSERT_TRUE(cache.prune(1 << 20));
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(cache.get(spec));
}

TEST_F(DiskCacheTest, AClaimHoldsOthersUntilItsDeadline) {
  options.lockDeadline = 30ms;
  DiskCache first(options), second(options);
  auto claim = first.claim(spec);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(second.claim(spec)) << "gives up and builds too";
  EXPECT_EQ(second.counters().lockTimeouts, 1u);
  KernelSpec other = spec;
  other.attention.causal = false;
  EXPECT_TRUE(second.claim(other)) << "another key does not wait";
  claim.reset();
  EXPECT_TRUE(second.claim(spec));
}

TEST_F(DiskCacheTest, ALongWaitNamesTheHolderAndTheDeadline) {
  EXPECT_LE(options.lockDeadline, 10s) << "a holder that hangs must not look like our hang";
  EXPECT_LT(options.lockNotice, options.lockDeadline);
  std::vector<std::string> lines;
  log::setSink(
      [](void *context, log::Level, std::string_view line) {
        static_cast<std::vector<std::string> *>(context)->emplace_back(line);
      },
      &lines);
  options.lockDeadline = 200ms;
  options.lockNotice = 20ms;
  DiskCache first(options), second(options);
  const auto claim = first.claim(spec);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(second.claim(spec));
  log::setSink(nullptr, nullptr);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr(fmt::format("waiting for process {} on ", ::getpid())));
  EXPECT_THAT(lines[0], ::testing::ContainsRegex("at most 1[0-9][0-9] ms more"));
  EXPECT_THAT(lines[1], HasSubstr("building without the lock"));
}

TEST_F(DiskCacheTest, ADirectoryThatOthersMayWriteIsNotUsed) {
  std::filesystem::create_directory(options.directory);
  ASSERT_EQ(::chmod(options.directory.c_str(), 0777), 0);
  DiskCache cache(options);
  cache.put(spec, objectOf("code"));
  EXPECT_EQ(cache.get(spec).status().code(), StatusCode::NotFound);
  EXPECT_FALSE(cache.claim(spec));
  EXPECT_TRUE(std::filesystem::is_empty(options.directory));
}

} // namespace
} // namespace wavesmith
