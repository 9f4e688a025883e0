// The verifier's process against programs in its place: what they say counts only if it is a record
// of this very object.

#include "runtime/provider/EmulatorVerifier.h"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/codeobject/Verification.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "tests/unit/dispatch/FakeObject.h"
#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct EmulatorVerifierTest : ::testing::Test {
  void SetUp() override {
    if (const auto missing = test::assemblerMissing())
      GTEST_SKIP() << *missing;
    object = test::fakeObject(spec);
    record = printVerification({sha256Hex(object->bytes), "emulator", {"a call"}});
  }
  Expected<std::string> verify(const std::string &script) {
    options.program = scratch / "verifier";
    EXPECT_TRUE(publishFile(options.program, asBytes("#!/bin/sh\n" + script)).isOk());
    std::filesystem::permissions(options.program, std::filesystem::perms::owner_all);
    return verifyOnEmulator(spec, object, options);
  }

  test::TestDirectory scratch;
  KernelSpec spec = test::mainJobSpec();
  SharedCodeObject object;
  std::string record;
  VerifierOptions options{.timeout = 20s};
};

TEST_F(EmulatorVerifierTest, TakesARecordOfThisObject) {
  // The program gets the object on its standard input.
  const std::string compare = "cat > " + (scratch / "seen") + "; echo '" + record + "'";
  const auto verified = verify(compare);
  ASSERT_TRUE(verified) << verified.status().message();
  EXPECT_EQ(*verified, record);
  EXPECT_EQ(*readFile(scratch / "seen"), object->bytes);
}

TEST_F(EmulatorVerifierTest, TakesNothingElse) {
  EXPECT_EQ(verify("exit 0").status().code(), StatusCode::Internal);
  EXPECT_EQ(verify("kill -9 $$").status().code(), StatusCode::Internal);
  const Status failed =
      verify("echo noise >&2; echo 'wavesmith-verify: row 7' >&2; exit 1").status();
  EXPECT_EQ(failed.code(), StatusCode::VerificationFailed);
  EXPECT_THAT(failed.message(), HasSubstr("failed its verification: row 7"));
  const std::string other = printVerification({sha256Hex("another"), "emulator", {"a call"}});
  EXPECT_EQ(verify("echo '" + other + "'").status().code(), StatusCode::Internal);
  EXPECT_EQ(verify("head -c 3000000 /dev/zero").status().code(), StatusCode::Internal);
}

TEST_F(EmulatorVerifierTest, DoesNotWaitForEver) {
  options.timeout = 50ms;
  const Status status = verify("exec sleep 60").status();
  EXPECT_EQ(status.code(), StatusCode::Timeout);
}

TEST_F(EmulatorVerifierTest, WorksWhereSomebodyElseReapsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto verified = verify("echo '" + record + "'");
  const Status failed = verify("echo 'row 7' >&2; exit 1").status();
  std::signal(SIGCHLD, before);
  ASSERT_TRUE(verified) << verified.status().message();
  EXPECT_THAT(failed.message(), HasSubstr("row 7"));
}

TEST_F(EmulatorVerifierTest, AsksNobodyAboutAnObjectOfAnotherSpec) {
  spec.attention.causal = false;
  EXPECT_THAT(verify("echo '" + record + "'").status().message(), HasSubstr("causal=1"));
}

TEST_F(EmulatorVerifierTest, AMissingProgramIsNamed) {
  options.program = "/nowhere/v";
  const Status status = verifyOnEmulator(spec, object, options).status();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/v"));
}

} // namespace
} // namespace wavesmith
