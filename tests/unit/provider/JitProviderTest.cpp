#include "runtime/provider/JitProvider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using test::mainJobSpec;
using ::testing::HasSubstr;

JitOptions withLibrary(const char *path) {
  JitOptions options;
  options.compilerLibrary = path;
  return options;
}

TEST(JitProvider, OpensTheLibraryAtTheFirstMissOnly) {
  JitProvider jit(withLibrary(WAVESMITH_TEST_COMPILER));
  EXPECT_FALSE(jit.loaded());
  const auto object = jit.get(mainJobSpec());
  ASSERT_TRUE(object) << object.status().message();
  EXPECT_TRUE(jit.loaded());
  EXPECT_EQ((*object)->provider, "jit");
  EXPECT_GT((*object)->compileMs, 0);
  EXPECT_EQ((*object)->kernelName, mainJobSpec().kernelName());
  EXPECT_EQ((*object)->bytes, test::bytesOf(mainJobSpec().text()));
}

TEST(JitProvider, RefusesAnotherBuildNamingBoth) {
  JitProvider jit(withLibrary(WAVESMITH_TEST_FOREIGN_COMPILER));
  for (int call = 0; call < 2; ++call) {
    const Status status = jit.get(mainJobSpec()).status();
    EXPECT_EQ(status.code(), StatusCode::Unsupported);
    EXPECT_THAT(status.message(), HasSubstr("another-build"));
    EXPECT_THAT(status.message(), HasSubstr(Toolchain::builtin().compilerBuild));
  }
}

TEST(JitProvider, AMissingLibraryIsNamed) {
  const Status status = JitProvider(withLibrary("/nonexistent/c.so")).get(mainJobSpec()).status();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_THAT(status.message(), HasSubstr("/nonexistent/c.so"));
  const Status other = JitProvider(withLibrary("libc.so.6")).get(mainJobSpec()).status();
  EXPECT_THAT(other.message(), HasSubstr("exports no wavesmithCompilerCreate"));
}

TEST(JitProvider, LooksBesideItsOwnBinary) {
  for (const std::string &path : compilerLibraryCandidates()) {
    EXPECT_EQ(path.front(), '/') << path;
    EXPECT_THAT(path, HasSubstr("libwavesmith-compiler.so"));
  }
}

TEST(JitProvider, ForbiddenNamesTheKeysAndOpensNothing) {
  JitOptions options = withLibrary(WAVESMITH_TEST_COMPILER);
  options.allowed = false;
  JitProvider jit(options);
  const Status status = jit.get(mainJobSpec()).status();
  EXPECT_EQ(status.code(), StatusCode::JitForbidden);
  EXPECT_THAT(status.message(), HasSubstr(mainJobSpec().key()));
  EXPECT_THAT(status.message(), HasSubstr(buildKey(mainJobSpec(), Toolchain::builtin())));
  EXPECT_FALSE(jit.loaded());
}

TEST(JitProvider, ReadsTheEnvironment) {
  const test::ScopedEnv policy("WAVESMITH_JIT", "forbid");
  const test::ScopedEnv library("WAVESMITH_COMPILER_LIBRARY", "/x.so");
  const auto options = JitOptions::fromEnvironment();
  ASSERT_TRUE(options) << options.status().message();
  EXPECT_FALSE(options->allowed);
  EXPECT_EQ(options->compilerLibrary, "/x.so");
  const test::ScopedEnv templates("WAVESMITH_TEMPLATE_DIR", "/nonexistent");
  EXPECT_EQ(JitOptions::fromEnvironment().status().code(), StatusCode::NotFound);
}

} // namespace
} // namespace wavesmith
