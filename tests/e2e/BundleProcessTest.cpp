// What a process that loads only prebuilt objects has in its memory: the runtime and the device, no
// part of a compiler. A child process compiles the bundle, so that this one never has to.

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/bundle/BundleWriter.h"
#include "runtime/session/Session.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

using ::testing::HasSubstr;

/// Files of a compiler that this process maps.
std::string compilerParts() {
  std::ifstream maps("/proc/self/maps");
  std::string found;
  for (std::string line; std::getline(maps, line);)
    for (const char *part : {"libMLIR", "libLLVM", "liblld", "wavesmith-compiler"})
      if (line.find(part) != std::string::npos && found.find(part) == std::string::npos)
        found += line.substr(line.rfind('/') + 1) + " ";
  return found;
}

AttentionProblem problem() {
  AttentionProblem problem;
  problem.headDimQk = problem.headDimV = 64;
  problem.heads = 2;
  problem.causal = true;
  problem.lengths = {{33, 70}, {5, 1100}};
  return problem;
}
constexpr int kSplits = 2;

std::vector<KernelSpec> specs() {
  const auto plan = planAttention(problem(), {.splits = kSplits});
  return {plan->spec(), *plan->combineSpec};
}

/// 0, or where it went wrong. With a compiler mapped at the end, or the test below shows nothing.
int buildBundle(const std::string &directory) {
  KernelStore store(KernelStoreOptions{});
  auto writer = BundleWriter::open(directory, store.toolchain());
  if (!writer)
    return 1;
  for (const KernelSpec &spec : specs()) {
    const auto lookup = store.get(spec);
    if (!lookup || !(*writer)->add(spec, *lookup->object).isOk())
      return 2;
  }
  if (!(*writer)->finish(specs()))
    return 3;
  return compilerParts().find("libLLVM") == std::string::npos ? 4 : 0;
}

TEST(BundleProcess, MapsNoCompiler) {
  const test::TestDirectory scratch;
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(buildBundle(scratch / "bundle"));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0) << "the bundle could not be built";

  KernelStoreOptions options;
  options.bundles.directories = {scratch / "bundle"};
  options.jit.allowed = false;
  options.jit.compilerLibrary = "/nowhere/libwavesmith-compiler.so";
  auto session = Session::create({.device = DeviceChoice::Emulator, .store = std::move(options)});
  ASSERT_TRUE(session) << session.status().message();
  RunRequest request;
  request.problem = problem();
  request.splits = kSplits;
  const auto report = (*session)->run(request);
  ASSERT_TRUE(report) << report.status().message();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->provider, "bundle");
  EXPECT_EQ(report->kernels.size(), 2u);

  // A miss is an error and loads nothing either.
  request.splits = 1;
  const auto missing = (*session)->run(request);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.status().code(), StatusCode::JitForbidden);
  EXPECT_THAT(missing.status().message(), HasSubstr("nearest entries: [bundle: "));
  EXPECT_EQ(compilerParts(), "");
}

} // namespace
} // namespace wavesmith
