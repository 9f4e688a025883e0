// Everything that can change a kernel's bytes changes its key: each field of the spec, each
// ingredient of the toolchain, each file that the digests cover (a comment too).

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "tests/unit/support/TestDirectory.h"

namespace wavesmith {
namespace {

const KernelSpec kBase = {"gfx942", {DType::BF16, 192, 128, true, true, false}, ""};

TEST(KeyCompleteness, EveryFieldOfTheSpecChangesBothKeysAndTheName) {
  // A new field fails here first: add it to the spec's text and to the list below.
  static_assert(sizeof(AttentionSpec) == 20,
                "a field was added: extend text(), parse(), this list");
  const std::vector<std::function<void(KernelSpec &)>> changes = {
      [](KernelSpec &) {},
      [](KernelSpec &s) { s.target = "gfx950"; },
      [](KernelSpec &s) { s.attention.dtype = DType::FP8; },
      [](KernelSpec &s) { s.attention.headDimQk = 128; },
      [](KernelSpec &s) { s.attention.headDimV = 64; },
      [](KernelSpec &s) { s.attention.causal = false; },
      [](KernelSpec &s) { s.attention.writeLse = false; },
      [](KernelSpec &s) { s.attention.splitKv = true; },
      [](KernelSpec &s) { s.attention.softCap = true; },
      [](KernelSpec &s) { s.attention.window = true; },
      [](KernelSpec &s) { s.attention.sink = true; },
      [](KernelSpec &s) { s.schedule = "plain"; },
  };
  std::set<std::string> specKeys, buildKeys, names;
  for (const auto &change : changes) {
    KernelSpec spec = kBase;
    change(spec);
    specKeys.insert(spec.key());
    buildKeys.insert(buildKey(spec, Toolchain::builtin()));
    names.insert(spec.kernelName());
  }
  EXPECT_EQ(specKeys.size(), changes.size());
  EXPECT_EQ(buildKeys.size(), changes.size());
  EXPECT_EQ(names.size(), changes.size());
}

TEST(KeyCompleteness, EveryIngredientOfTheToolchainChangesTheBuildKey) {
  const std::vector<std::function<void(Toolchain &)>> changes = {
      [](Toolchain &) {},
      [](Toolchain &t) { t.templateDigest += "0"; },
      [](Toolchain &t) { t.compilerBuild += "0"; },
      [](Toolchain &t) { t.llvmVersion += "0"; },
      [](Toolchain &t) { t.environment += "0"; },
      // The border between two ingredients counts too.
      [](Toolchain &t) { std::swap(t.templateDigest, t.compilerBuild); },
  };
  std::set<std::string> keys;
  for (const auto &change : changes) {
    Toolchain toolchain = Toolchain::builtin();
    change(toolchain);
    keys.insert(buildKey(kBase, toolchain));
  }
  EXPECT_EQ(keys.size(), changes.size());
}

TEST(KeyCompleteness, BuiltinToolchainIsFilled) {
  const Toolchain &toolchain = Toolchain::builtin();
  EXPECT_EQ(toolchain.templateDigest.size(), 64u);
  EXPECT_EQ(toolchain.compilerBuild.size(), 64u);
  EXPECT_FALSE(toolchain.llvmVersion.empty());
}

std::string generate(const test::TestDirectory &tree) {
  const std::string output = tree / "Toolchain.inc";
  const std::string command =
      fmt::format("\"{}\" -DROOT={} -DLLVM_PREFIX=/nonexistent -DOUTPUT={} -P \"{}\"",
                  WAVESMITH_TEST_CMAKE, tree.path(), output, WAVESMITH_TEST_GENERATOR);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return *readTextFile(output);
}

void write(const std::string &path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  ASSERT_TRUE(publishFile(path, asBytes(text)).isOk()) << path;
}

TEST(KeyCompleteness, AnyChangeToACoveredFileChangesTheGeneratedDigests) {
  const test::TestDirectory tree;
  write(tree / "templates/attention.mlir", "// one\n");
  write(tree / "compiler/passes/A.cpp", "a");
  write(tree / "dialects/tile/Ops.td", "b");
  write(tree / "runtime/spec/AttentionAbi.h", "c");
  write(tree / "runtime/provider/CompilerInterface.h", "d");
  write(tree / "runtime/support/Status.h", "e");
  std::set<std::string> texts = {generate(tree)};
  EXPECT_TRUE(texts.contains(generate(tree))) << "the same tree gives the same digests";
  std::size_t expected = 1;
  for (const char *file :
       {"templates/attention.mlir", "compiler/passes/A.cpp", "dialects/tile/Ops.td",
        "runtime/spec/AttentionAbi.h", "runtime/provider/CompilerInterface.h",
        "runtime/support/Status.h", "compiler/passes/New.cpp", "templates/more/new.mlir"}) {
    write(tree / file, "// a changed comment\n");
    texts.insert(generate(tree));
    EXPECT_EQ(texts.size(), ++expected) << file;
  }
}

TEST(KeyCompleteness, ATemplateDirectoryHasTheDigestThatTheGeneratorWouldGive) {
  const test::TestDirectory tree;
  write(tree / "templates/attention.mlir", "// one\n");
  write(tree / "templates/parts/mask.mlir", "// two\n");
  write(tree / "templates/notes.txt", "not a template");
  write(tree / "runtime/support/Status.h", "e");
  const auto toolchain = Toolchain::withTemplates(tree / "templates");
  ASSERT_TRUE(toolchain) << toolchain.status().message();
  EXPECT_NE(generate(tree).find(toolchain->templateDigest), std::string::npos);
  EXPECT_EQ(toolchain->compilerBuild, Toolchain::builtin().compilerBuild);
  EXPECT_EQ(Toolchain::withTemplates(tree / "none").status().code(), StatusCode::NotFound);
  EXPECT_EQ(Toolchain::withTemplates(tree / "runtime").status().code(), StatusCode::NotFound);
}

} // namespace
} // namespace wavesmith
