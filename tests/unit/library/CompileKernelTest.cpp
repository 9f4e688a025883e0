// Spec to code object: every specialisation compiles, keeps its limits and says what it is; what
// cannot compile says why and leaves a reproducer.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/library/CompileKernel.h"
#include "compiler/library/TemplateLibrary.h"
#include "runtime/codeobject/CodeObject.h"
#include "runtime/codeobject/Note.h"

namespace wavesmith::compiler {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

struct Dims {
  int qk, v;
};

KernelSpec makeSpec(Dims dims, bool causal, bool lse, const std::string &target = "gfx942",
                    DType dtype = DType::BF16) {
  return {.target = target,
          .attention = {.dtype = dtype,
                        .headDimQk = dims.qk,
                        .headDimV = dims.v,
                        .causal = causal,
                        .writeLse = lse}};
}

class Specialisations
    : public ::testing::TestWithParam<std::tuple<Target, DType, Dims, bool, bool>> {};

TEST_P(Specialisations, CompileWithinTheirLimits) {
  auto [target, dtype, dims, causal, lse] = GetParam();
  const KernelSpec spec = makeSpec(dims, causal, lse, target.name, dtype);
  auto blob = compileKernel(spec, {});
  ASSERT_TRUE(blob) << blob.status().message();
  EXPECT_EQ(blob->kernelName, spec.kernelName());
  EXPECT_EQ(blob->provider, "jit");

  auto object = CodeObject::parse(blob->bytes, "test");
  ASSERT_TRUE(object) << object.status().message();
  EXPECT_EQ(object->target(), target.name);
  ASSERT_EQ(object->kernels().size(), 1u);
  const KernelInfo &kernel = object->kernels().front();
  EXPECT_EQ(kernel.name, spec.kernelName());
  EXPECT_LE(kernel.vgprs, 256u);
  EXPECT_EQ(kernel.agprs, 0u);
  EXPECT_EQ(kernel.scratchBytes, 0u);
  EXPECT_EQ(kernel.vgprSpills + kernel.sgprSpills, 0u);
  EXPECT_LE(kernel.ldsBytes, static_cast<unsigned>(target.ldsBytes));
  EXPECT_EQ(kernel.kernargBytes, 168u);
  ASSERT_TRUE(object->wavesmithNote().has_value());
  auto note = parseNote(*object->wavesmithNote(), "test");
  ASSERT_TRUE(note) << note.status().message();
  EXPECT_EQ(note->spec, spec.text());
  EXPECT_EQ(note->specKey, spec.key());
  EXPECT_EQ(note->buildKey, buildKey(spec, Toolchain::builtin()));
  EXPECT_EQ(note->fp8Format, dtype == DType::FP8 ? fp8FormatName(target.fp8) : "");
}

std::string
caseName(const ::testing::TestParamInfo<std::tuple<Target, DType, Dims, bool, bool>> &info) {
  auto [target, dtype, dims, causal, lse] = info.param;
  return target.name + "_" + std::string(dtypeName(dtype)) + "_d" + std::to_string(dims.qk) + "x" +
         std::to_string(dims.v) + (causal ? "_causal" : "") + (lse ? "_lse" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Specialisations,
                         ::testing::Combine(::testing::ValuesIn(knownTargets()),
                                            ::testing::Values(DType::BF16, DType::F16, DType::FP8),
                                            ::testing::Values(Dims{192, 128}, Dims{128, 128},
                                                              Dims{64, 64}, Dims{256, 256}),
                                            ::testing::Bool(), ::testing::Bool()),
                         caseName);

/// Score functions one by one and together, with splits, where the most is live at the end.
class ScoredSpecialisations
    : public ::testing::TestWithParam<std::tuple<Target, DType, Dims, int>> {};

TEST_P(ScoredSpecialisations, CompileWithinTheirLimits) {
  auto [target, dtype, dims, set] = GetParam();
  KernelSpec spec = makeSpec(dims, true, true, target.name, dtype);
  spec.attention.softCap = set & 1;
  spec.attention.window = set & 2;
  spec.attention.sink = set & 4;
  spec.attention.splitKv = set == 7;
  auto blob = compileKernel(spec, {});
  ASSERT_TRUE(blob) << blob.status().message();
  auto object = CodeObject::parse(blob->bytes, "test");
  ASSERT_TRUE(object) << object.status().message();
  const KernelInfo &kernel = object->kernels().front();
  EXPECT_LE(kernel.vgprs, 256u);
  EXPECT_EQ(kernel.scratchBytes, 0u);
  EXPECT_EQ(kernel.kernargBytes, 192u);
}

std::string scoredName(const ::testing::TestParamInfo<std::tuple<Target, DType, Dims, int>> &info) {
  auto [target, dtype, dims, set] = info.param;
  return fmt::format("{}_{}_d{}x{}_{}", target.name, dtypeName(dtype), dims.qk, dims.v, set);
}

INSTANTIATE_TEST_SUITE_P(All, ScoredSpecialisations,
                         ::testing::Combine(::testing::ValuesIn(knownTargets()),
                                            ::testing::Values(DType::BF16, DType::F16, DType::FP8),
                                            ::testing::Values(Dims{192, 128}, Dims{128, 128},
                                                              Dims{64, 64}, Dims{256, 256}),
                                            ::testing::Values(1, 2, 4, 7)),
                         scoredName);

TEST(CompileKernel, SameSpecSameBytes) {
  auto first = compileKernel(makeSpec({64, 64}, true, true), {});
  auto second = compileKernel(makeSpec({64, 64}, true, true), {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->bytes, second->bytes);
}

TEST(CompileKernel, ManyThreadsAtOnce) {
  std::vector<std::vector<std::byte>> results(6);
  std::vector<std::thread> threads;
  for (auto &result : results)
    threads.emplace_back([&result] {
      auto blob = compileKernel(makeSpec({64, 64}, false, true), {});
      if (blob)
        result = blob->bytes;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : results) {
    EXPECT_FALSE(result.empty());
    EXPECT_EQ(result, results.front());
  }
}

class ForeignTemplate : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "wavesmith-template-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  Expected<CodeObjectBlob> compile(const std::string &text) {
    std::ofstream(directory_ / "attention.mlir") << text;
    return compileKernel(makeSpec({64, 64}, true, true),
                         {.templateDirectory = directory_.string(),
                          .reproducerDirectory = (directory_ / "repro").string()});
  }
  static std::string replaced(std::string text, const std::string &from, const std::string &to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  fs::path directory_;
};

TEST_F(ForeignTemplate, TheSameTextGivesTheSameKernel) {
  auto foreign = compile(*templateText("attention", ""));
  ASSERT_TRUE(foreign) << foreign.status().message();
  auto builtin = compileKernel(makeSpec({64, 64}, true, true), {});
  ASSERT_TRUE(builtin);
  // The same code; the notes name the same spec and the key of their own templates.
  auto ours = CodeObject::parse(builtin->bytes, "builtin");
  auto theirs = CodeObject::parse(foreign->bytes, "foreign");
  ASSERT_TRUE(ours && theirs);
  const KernelInfo &a = ours->kernels().front(), &b = theirs->kernels().front();
  const auto code = ours->at(a.entryAddress, a.codeSize);
  EXPECT_TRUE(std::ranges::equal(code, theirs->at(b.entryAddress, b.codeSize)));
  EXPECT_FALSE(code.empty());
  auto note = parseNote(*theirs->wavesmithNote(), "foreign");
  auto toolchain = Toolchain::withTemplates(directory_.string());
  ASSERT_TRUE(note && toolchain);
  EXPECT_EQ(note->buildKey, buildKey(makeSpec({64, 64}, true, true), *toolchain));
}

TEST_F(ForeignTemplate, SyntaxErrorsCarryFileAndLine) {
  auto blob = compile("tile.kernel @attention(");
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.status().code(), StatusCode::CompileFailed);
  EXPECT_THAT(blob.status().message(), HasSubstr("attention.mlir:1"));
}

TEST_F(ForeignTemplate, WhatCannotBeLoweredLeavesAReproducer) {
  // A mask that is no limit is a score function that the schedule has no means for.
  auto blob = compile(replaced(*templateText("attention", ""), "arith.cmpi sle, %key, %limit",
                               "arith.cmpi ne, %key, %limit"));
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.status().code(), StatusCode::CompileFailed);
  EXPECT_THAT(blob.status().message(), HasSubstr("must be the kernel's one pipelined and peeled"));
  EXPECT_THAT(blob.status().message(), HasSubstr("wavesmith-opt -run-reproducer"));
  int files = 0;
  for (const auto &entry : fs::directory_iterator(directory_ / "repro")) {
    std::ifstream file(entry.path());
    std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_THAT(text, HasSubstr("mlir_reproducer"));
    EXPECT_THAT(text, HasSubstr("wavesmith-lower-tile"));
    EXPECT_THAT(text, HasSubstr("tile.phase"));
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST_F(ForeignTemplate, AParameterTooManyIsNamed) {
  auto blob = compile(*templateText("attention", "") + "\ntile.param @extra : i32 doc \"more\"\n");
  ASSERT_FALSE(blob);
  EXPECT_THAT(blob.status().message(), HasSubstr("parameter 'extra' has no value"));
}

} // namespace
} // namespace wavesmith::compiler
