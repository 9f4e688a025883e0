#include "runtime/cache/KernelStore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/support/Log.h"
#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using test::mainJobSpec;
using ::testing::HasSubstr;

struct KernelStoreTest : ::testing::Test {
  test::TestDirectory scratch;
  test::FakeCompiler compiler;

  KernelStoreOptions options(bool jitAllowed = true) {
    KernelStoreOptions options;
    options.disk.emplace();
    options.disk->directory = scratch / "cache";
    options.jit.allowed = jitAllowed;
    options.jit.create = [this] { return std::make_unique<test::BorrowedCompiler>(compiler); };
    return options;
  }
};

TEST_F(KernelStoreTest, JitThenMemoryThenDisk) {
  KernelStore first(options());
  auto lookup = first.get(mainJobSpec());
  ASSERT_TRUE(lookup) << lookup.status().message();
  EXPECT_EQ(lookup->provider, "jit");
  EXPECT_GT(lookup->compileMs, 0);
  lookup = first.get(mainJobSpec());
  EXPECT_EQ(lookup->provider, "memory");
  EXPECT_EQ(lookup->compileMs, 0);
  KernelStore second(options());
  lookup = second.get(mainJobSpec());
  EXPECT_EQ(lookup->provider, "disk");
  EXPECT_EQ(lookup->compileMs, 0);
  EXPECT_EQ(compiler.compiles, 1);
  const KernelStoreCounters counters = first.counters();
  EXPECT_EQ(counters.memory.hits, 1u);
  ASSERT_EQ(counters.providers.size(), 2u);
  EXPECT_EQ(counters.providers[0].name, "disk");
  EXPECT_EQ(counters.providers[0].misses, 1u);
  EXPECT_EQ(counters.providers[1].hits, 1u);
}

TEST_F(KernelStoreTest, ADumpThatACacheHitPreventsIsSaidOnce) {
  std::vector<std::string> lines;
  log::setSink(
      [](void *context, log::Level, std::string_view line) {
        static_cast<std::vector<std::string> *>(context)->emplace_back(line);
      },
      &lines);
  KernelStoreOptions dumping = options();
  dumping.jit.compile.dumpDirectory = "/dumps";
  KernelStore first(dumping);
  ASSERT_TRUE(first.get(mainJobSpec()));
  ASSERT_TRUE(first.get(mainJobSpec()));
  EXPECT_TRUE(lines.empty()) << "it compiled, and dumped then";
  KernelStore second(dumping);
  ASSERT_TRUE(second.get(mainJobSpec()));
  ASSERT_TRUE(second.get(mainJobSpec()));
  log::setSink(nullptr, nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("wavesmith warn cache: nothing dumped"));
  EXPECT_THAT(lines[0], HasSubstr("/dumps"));
}

TEST_F(KernelStoreTest, RefusesAnInvalidSpecBeforeAnyProvider) {
  KernelSpec spec = mainJobSpec();
  spec.attention.headDimQk = 72;
  EXPECT_EQ(KernelStore(options()).get(spec).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(compiler.compiles, 0);
}

TEST_F(KernelStoreTest, AFailedCompileMayBeRetried) {
  KernelStore store(options());
  compiler.failures = 1;
  EXPECT_EQ(store.get(mainJobSpec()).status().code(), StatusCode::CompileFailed);
  EXPECT_TRUE(store.get(mainJobSpec()));
}

TEST_F(KernelStoreTest, ForbiddenJitServesHitsAndNamesTheNearestOtherwise) {
  ASSERT_TRUE(KernelStore(options()).get(mainJobSpec()));
  KernelStore store(options(false));
  EXPECT_EQ(store.get(mainJobSpec())->provider, "disk");
  KernelSpec other = mainJobSpec();
  other.attention.causal = false;
  const Status status = store.get(other).status();
  EXPECT_EQ(status.code(), StatusCode::JitForbidden);
  EXPECT_THAT(status.message(), HasSubstr(other.key()));
  EXPECT_THAT(status.message(), HasSubstr("disk: " + mainJobSpec().text()));
  // A drifted cache: the same spec, made by another compiler.
  KernelStoreOptions drifted = options(false);
  drifted.jit.toolchain.compilerBuild = "newer";
  EXPECT_THAT(KernelStore(std::move(drifted)).get(mainJobSpec()).status().message(),
              HasSubstr("(the same spec)"));
}

TEST_F(KernelStoreTest, WorksWithoutAHome) {
  const test::ScopedEnv own("WAVESMITH_CACHE_DIR", nullptr);
  const test::ScopedEnv xdg("XDG_CACHE_HOME", nullptr);
  const test::ScopedEnv home("HOME", nullptr);
  const auto options = KernelStoreOptions::fromEnvironment();
  ASSERT_TRUE(options) << options.status().message();
  EXPECT_FALSE(options->disk);
}

TEST_F(KernelStoreTest, TheCacheCanBeTurnedOff) {
  const test::ScopedEnv own("WAVESMITH_CACHE_DIR", "off");
  EXPECT_FALSE(KernelStoreOptions::fromEnvironment()->disk);
}

} // namespace
} // namespace wavesmith
