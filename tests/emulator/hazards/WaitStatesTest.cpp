// The wait states around matrix instructions: for every producer and kind of user the table's
// number is enough and one less is reported. The numbers are those that LLVM 22's hazard recogniser
// inserts (llc -run-pass post-RA-hazard-rec), on both targets.

#include <gtest/gtest.h>

#include "emulator/Emulator.h"
#include "tests/device/Assembler.h"

namespace wavesmith::emulator {
namespace {

struct Producer {
  const char *name, *mnemonic;
  int inputs, results; ///< registers of A and B, of C and D
};
constexpr Producer kProducers[] = {
    {"xdl 2", "v_mfma_f32_4x4x4_16b_f16", 2, 4},   {"xdl 4", "v_mfma_f32_16x16x16_f16", 2, 4},
    {"xdl 8", "v_mfma_f32_32x32x8_f16", 2, 16},    {"xdl 16", "v_mfma_f32_32x32x4_2b_f16", 2, 32},
    {"f32 2", "v_mfma_f32_4x4x1_16b_f32", 1, 4},   {"f32 8", "v_mfma_f32_16x16x4_f32", 1, 4},
    {"f32 16", "v_mfma_f32_32x32x2_f32", 1, 16},   {"f64 small", "v_mfma_f64_4x4x4_4b_f64", 2, 2},
    {"f64 large", "v_mfma_f64_16x16x4_f64", 2, 8},
};

enum User { Exact, Overlap, SourceA, SourceB, Read, Write, Store, LdsStore, Load, WriteC, kUsers };
constexpr const char *kUserNames[] = {"accumulates on the result",
                                      "accumulates on a part",
                                      "takes it as A",
                                      "takes it as B",
                                      "reads it",
                                      "overwrites it",
                                      "stores it",
                                      "stores it to LDS",
                                      "loads over it",
                                      "overwrites C"};

// -1: the combination does not exist.
constexpr int kNeeds[2][std::size(kProducers)][kUsers] = {{{2, 3, 5, 5, 5, 5, 5, 5, 5, 1},
                                                           {0, 5, 7, 7, 7, 7, 7, 7, 7, 3},
                                                           {0, 9, 11, 11, 11, 11, 11, 11, 11, 7},
                                                           {0, 17, 19, 19, 19, 19, 19, 19, 19, 15},
                                                           {2, 2, 4, 4, 4, 4, 4, 4, 4, 0},
                                                           {0, 8, 10, 10, 10, 10, 10, 10, 10, 0},
                                                           {0, 16, 18, 18, 18, 18, 18, 18, 18, 0},
                                                           {4, -1, 6, 6, 6, 6, 9, 9, 6, 0},
                                                           {0, 9, 11, 11, 11, 11, 18, 18, 11, 0}},
                                                          {{2, 4, 5, 5, 5, 5, 5, 5, 5, 1},
                                                           {0, 6, 8, 8, 8, 8, 8, 8, 8, 3},
                                                           {0, 10, 12, 12, 12, 12, 12, 12, 12, 7},
                                                           {0, 18, 20, 20, 20, 20, 20, 20, 20, 15},
                                                           {2, 2, 4, 4, 4, 4, 4, 4, 4, 0},
                                                           {0, 8, 10, 10, 10, 10, 10, 10, 10, 0},
                                                           {0, 16, 18, 18, 18, 18, 18, 18, 18, 0},
                                                           {4, -1, 6, 6, 6, 6, 9, 9, 6, 0},
                                                           {0, 17, 19, 19, 19, 11, 18, 18, 11, 0}}};

std::string range(int first, int count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

std::string matrix(const Producer &p, int d, int a, int b, int c) {
  return fmt::format("  {} {}, {}, {}, {}\n", p.mnemonic, range(d, p.results), range(a, p.inputs),
                     range(b, p.inputs), range(c, p.results));
}

std::string waits(int states) {
  std::string text;
  for (; states > 0; states -= 16)
    text += fmt::format("  s_nop {}\n", std::min(states, 16) - 1);
  return text;
}

/// The result is in v40 and up; C too, but for WriteC.
std::string user(const Producer &p, User kind) {
  switch (kind) {
  case Exact:
    return matrix(p, 40, 10, 12, 40);
  case Overlap:
    return matrix(p, 42, 10, 12, 42);
  case SourceA:
    return matrix(kProducers[1], 100, 40, 12, 100);
  case SourceB:
    return matrix(kProducers[4], 100, 12, 40, 100);
  case Read:
    return "  v_mov_b32 v20, v40\n";
  case Write:
  case WriteC:
    return "  v_mov_b32 v40, v20\n";
  case Store:
    return "  global_store_dword v[150:151], v40, off\n";
  case LdsStore:
    return "  ds_write_b32 v150, v40\n";
  default:
    return "  global_load_dword v40, v[150:151], off\n";
  }
}

struct Case {
  std::string what, body;
  bool faults;
};

std::vector<Case> cases(int target) {
  std::vector<Case> all;
  auto add = [&](const std::string &what, const std::string &first, int need,
                 const std::string &second) {
    for (int states : {need - 1, need})
      if (states >= 0)
        // No lane is on, so that nothing reaches memory.
        all.push_back({fmt::format("{} after {} of {} wait states", what, states, need),
                       "  s_mov_b64 exec, 0\n" + waits(32) + first + waits(states) + second,
                       states < need});
  };
  for (std::size_t i = 0; i < std::size(kProducers); ++i) {
    const Producer &p = kProducers[i];
    for (int kind = 0; kind < kUsers; ++kind)
      if (int need = kNeeds[target][i][kind]; need >= 0)
        add(fmt::format("{}: {}", p.name, kUserNames[kind]),
            matrix(p, kind == WriteC ? 100 : 40, 10, 12, 40), need, user(p, User(kind)));
    for (const char *written : {"v10", "v12", "v40"})
      add(fmt::format("{}: an operand from the VALU", p.name),
          fmt::format("  v_mov_b32 {}, v20\n", written), 2, matrix(p, 40, 10, 12, 40));
    add(fmt::format("{}: EXEC from the VALU", p.name), "  v_cmpx_eq_i32 v20, v21\n", 4,
        matrix(p, 40, 10, 12, 40));
  }
  return all;
}

class WaitStates : public testing::TestWithParam<int> {};

TEST_P(WaitStates, OneLessIsReported) {
  if (const auto missing = test::assemblerMissing())
    GTEST_SKIP() << *missing;
  const char *target = GetParam() ? "gfx950" : "gfx942";
  const std::vector<Case> all = cases(GetParam());
  ASSERT_GT(all.size(), 200u);
  std::vector<test::KernelSource> kernels;
  for (std::size_t i = 0; i < all.size(); ++i) {
    test::KernelSource kernel;
    kernel.name = fmt::format("k{}", i);
    kernel.body = all[i].body;
    kernel.vgprs = 160;
    kernel.ldsBytes = 256;
    kernels.push_back(kernel);
  }
  auto code = CodeObject::parse(test::assemble(test::kernelSource(kernels), target), "hazards");
  ASSERT_TRUE(code) << code.status().message();
  auto device = Device::create({target});
  ASSERT_TRUE(device);
  auto module = (*device)->load(*code);
  ASSERT_TRUE(module) << module.status().message();
  RunOptions options;
  options.threads = 1;
  options.checks = *Checks::parse("hazards");
  for (std::size_t i = 0; i < all.size(); ++i) {
    LaunchConfig launch;
    launch.kernel = kernels[i].name;
    launch.block = {64, 1, 1};
    auto report = (*device)->run(**module, launch, options);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_EQ(!report->clean(), all[i].faults)
        << target << ": " << all[i].what << "\n"
        << (report->clean() ? "" : report->faults.front().text());
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, WaitStates, testing::Values(0, 1),
                         [](const auto &info) { return info.param ? "gfx950" : "gfx942"; });

} // namespace
} // namespace wavesmith::emulator
