#pragma once
// Bundles of objects whose kernels end at once, for tests of reader, writer and provider.

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/bundle/BundleProvider.h"
#include "runtime/bundle/BundleWriter.h"
#include "tests/unit/dispatch/FakeObject.h"
#include "tests/unit/provider/FakeCompiler.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith::test {

struct BundleFixture : ::testing::Test {
  void SetUp() override {
    if (const auto missing = assemblerMissing())
      GTEST_SKIP() << *missing;
  }

  TestDirectory scratch;
  std::string directory = scratch / "bundle";
  Toolchain toolchain = Toolchain::builtin();
  KernelSpec spec = mainJobSpec();

  static KernelSpec notCausal() {
    KernelSpec other = mainJobSpec();
    other.attention.causal = false;
    return other;
  }
  SharedCodeObject object(const KernelSpec &of) const {
    return fakeObject(of, {.buildKey = buildKey(of, toolchain)});
  }
  /// A bundle of these kernels; those that are already there are kept.
  void build(const std::vector<KernelSpec> &specs) {
    auto writer = BundleWriter::open(directory, toolchain);
    ASSERT_TRUE(writer) << writer.status().message();
    for (const KernelSpec &of : specs)
      if (!(*writer)->keep(of, false))
        ASSERT_TRUE((*writer)->add(of, *object(of)).isOk());
    const auto removed = (*writer)->finish(specs);
    ASSERT_TRUE(removed) << removed.status().message();
  }
  std::string pathOf(const KernelSpec &of) const {
    const auto bundle = Bundle::open(directory);
    if (!bundle || !bundle->manifest().find(of.key())) {
      bundle.ignoreError("the test will see");
      return "";
    }
    return bundle->pathOf(*bundle->manifest().find(of.key()));
  }
  static void overwrite(const std::string &path, std::span<const std::byte> bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &item : std::filesystem::directory_iterator(directory))
      names.push_back(item.path().filename());
    std::ranges::sort(names);
    return names;
  }
};

} // namespace wavesmith::test
