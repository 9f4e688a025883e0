#include "runtime/support/Env.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using test::ScopedEnv;

TEST(Env, TableHasUniqueDocumentedNames) {
  std::set<std::string_view> names;
  for (const env::Variable &variable : env::variables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_FALSE(variable.doc.empty()) << variable.name;
  }
  EXPECT_TRUE(names.contains("WAVESMITH_LOG"));
}

TEST(Env, EmptyCountsAsUnset) {
  const ScopedEnv empty("WAVESMITH_DEVICE", "");
  EXPECT_EQ(env::get("WAVESMITH_DEVICE"), "auto");
  EXPECT_FALSE(env::find("WAVESMITH_DEVICE"));
}

TEST(Env, CacheDirectoryFallsBackInOrder) {
  const ScopedEnv own("WAVESMITH_CACHE_DIR", "/own");
  const ScopedEnv xdg("XDG_CACHE_HOME", "/xdg");
  const ScopedEnv home("HOME", "/home/someone");
  EXPECT_EQ(*env::cacheDirectory(), "/own");
  const ScopedEnv noOwn("WAVESMITH_CACHE_DIR", nullptr);
  EXPECT_EQ(*env::cacheDirectory(), "/xdg/wavesmith");
  const ScopedEnv relative("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(*env::cacheDirectory(), "/home/someone/.cache/wavesmith");
  const ScopedEnv noHome("HOME", "");
  EXPECT_EQ(env::cacheDirectory().status().code(), StatusCode::NotFound);
}

TEST(Env, CacheSizeReadsSuffixes) {
  const auto size = [](const char *text) {
    const ScopedEnv variable("WAVESMITH_CACHE_SIZE", text);
    return env::cacheSizeBytes();
  };
  EXPECT_EQ(*size(nullptr), 1u << 30);
  EXPECT_EQ(*size("12"), 12u);
  EXPECT_EQ(*size("3K"), 3072u);
  EXPECT_EQ(*size("2T"), std::uint64_t{2} << 40);
  for (const char *bad : {"G", "-1", "1X", "1KK", "99999999999999999999", "99999999999T", " 1"})
    EXPECT_EQ(size(bad).status().code(), StatusCode::InvalidArgument) << bad;
}

TEST(Env, JitPolicy) {
  const auto allowed = [](const char *text) {
    const ScopedEnv variable("WAVESMITH_JIT", text);
    return env::jitAllowed();
  };
  EXPECT_TRUE(*allowed(nullptr));
  EXPECT_FALSE(*allowed("forbid"));
  EXPECT_NE(allowed("no").status().message().find("auto or forbid"), std::string::npos);
}

} // namespace
} // namespace wavesmith
