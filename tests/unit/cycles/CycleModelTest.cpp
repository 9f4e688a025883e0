// Occupancy, composition of the grid, clocks and reasons: what follows from the model's rules
// without a measurement.

#include <algorithm>
#include <iostream>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/cycles/CycleModel.h"
#include "tests/unit/cycles/Assemble.h"

namespace wavesmith::emulator {
namespace {

CycleReport model(const std::string &kernel, int repeat, std::uint32_t block, std::uint32_t grid,
                  int value = 4, const std::string &chip = "MI325X", int threads = 0,
                  bool replayAll = false) {
  auto code = test::assemble(kernel, chip.starts_with("MI35") ? "gfx950" : "gfx942", repeat, value);
  EXPECT_TRUE(code) << code.status().message();
  auto report = test::runMicro(*code, chip, block, grid, threads, nullptr, replayAll);
  EXPECT_TRUE(report) << report.status().message();
  return *report->modelled;
}

class CycleModel : public testing::Test {
protected:
  void SetUp() override {
    if (!test::haveAssembler())
      GTEST_SKIP() << "llvm-mc or ld.lld not found";
  }
};

TEST(Occupancy, FollowsRegistersSlotsAndLds) {
  const auto &gfx942 = *(*cycles::findChip("", "gfx942"))->architecture;
  const auto &gfx950 = *(*cycles::findChip("", "gfx950"))->architecture;
  EXPECT_EQ(cycles::workgroupsPerCu({4, 64, 96, 0}, gfx942), 8);
  EXPECT_EQ(cycles::workgroupsPerCu({4, 65, 96, 0}, gfx942), 7);
  EXPECT_EQ(cycles::workgroupsPerCu({4, 64, 112, 0}, gfx942), 7);
  EXPECT_EQ(cycles::workgroupsPerCu({8, 190, 62, 42752}, gfx942), 1);
  EXPECT_EQ(cycles::workgroupsPerCu({4, 32, 32, 16384}, gfx942), 4);
  EXPECT_EQ(cycles::workgroupsPerCu({4, 32, 32, 16385}, gfx942), 3);
  EXPECT_EQ(cycles::workgroupsPerCu({4, 32, 32, 16384}, gfx950), 8);
  EXPECT_EQ(cycles::workgroupsPerCu({16, 512, 32, 0}, gfx942), 1);
}

TEST(Chips, AreFoundByNameAndTarget) {
  EXPECT_EQ((*cycles::findChip("", "gfx942"))->name, "MI325X");
  EXPECT_EQ((*cycles::findChip("", "gfx950"))->name, "MI355X");
  EXPECT_EQ((*cycles::findChip("MI308X", "gfx942"))->cus(), 80);
  EXPECT_THAT(cycles::findChip("MI355X", "gfx942").status().message(),
              testing::HasSubstr("MI308X"));
  EXPECT_FALSE(cycles::findChip("MI1", "gfx942"));
}

double ratio(const CycleReport &a, const CycleReport &b) {
  return static_cast<double>(a.cycles) / static_cast<double>(b.cycles);
}

TEST_F(CycleModel, AFullGridTakesOneRoundAndOneMoreWorkgroupAnother) {
  // 32 KiB of LDS: two workgroups on a compute unit. They only wait, each for itself.
  CycleReport full = model("l1_latency", 100, 64, 608), over = model("l1_latency", 100, 64, 609);
  EXPECT_EQ(full.workgroupsPerCu, 2);
  EXPECT_NEAR(ratio(over, full), 2, 0.1);
  EXPECT_GT(full.balance, 0.99);
  EXPECT_LT(over.balance, 0.6);
}

TEST_F(CycleModel, ATailWorkgroupHasItsComputeUnitForItself) {
  // Two workgroups share the VALU ports, the one that is left over has them alone.
  CycleReport full = model("alu", 4000, 256, 608), over = model("alu", 4000, 256, 609);
  EXPECT_NEAR(ratio(over, full), 1.5, 0.05);
}

/// The composition from samples against the replay of every workgroup, and how far apart they are:
/// at most 3.7 % when this was written, and 9.4 % where the groups that happen to meet on a compute
/// unit read the same lines, which a sample does not show.
TEST_F(CycleModel, TheSampleAgreesWithTheWholeGrid) {
  struct Case {
    const char *kernel;
    int repeat;
    std::uint32_t block, grid;
    double within = 0.05;
  };
  for (const Case &c :
       {Case{"alu", 200, 256, 201}, Case{"mfma16_mixed", 100, 512, 90},
        Case{"lds_read128", 100, 256, 250}, Case{"sum", 20, 256, 200}, Case{"sum", 20, 256, 40},
        Case{"unequal", 1, 256, 200}, Case{"unequal", 1, 256, 331}, Case{"copy", 16, 256, 480},
        Case{"copy", 16, 256, 170}, Case{"shared_read", 32, 256, 480, 0.1},
        Case{"shared_read", 32, 256, 160}, Case{"mixed_read", 32, 256, 480}}) {
    CycleReport sample = model(c.kernel, c.repeat, c.block, c.grid, 16, "MI308X"),
                all = model(c.kernel, c.repeat, c.block, c.grid, 16, "MI308X", 0, true);
    EXPECT_EQ(all.sampledWorkgroups, static_cast<int>(c.grid));
    EXPECT_LE(sample.sampledWorkgroups, 8);
    std::cout << fmt::format("sampled\t{} x {}\t{} clk, all {} clk, {:+.1f} %\n", c.kernel, c.grid,
                             sample.cycles, all.cycles, 100 * (ratio(sample, all) - 1));
    EXPECT_NEAR(ratio(sample, all), 1, c.within) << c.kernel << " x " << c.grid;
    EXPECT_GE(ratio(sample, all), 0.995) << "what a sample cannot show only saves time";
    EXPECT_NEAR(sample.mfmaUtilisation * ratio(sample, all), all.mfmaUtilisation,
                0.03 * all.mfmaUtilisation)
        << "the work is the same";
  }
}

/// The work of each workgroup of kernels/unequal.s.
std::vector<double> unequalWeights(std::size_t grid) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < grid; ++i)
    weights.push_back(3.0 * static_cast<double>(1 + (i % 8) * (i % 8)));
  return weights;
}

TEST_F(CycleModel, AGridOfWhichOnlySamplesRunTakesAsLong) {
  auto code = test::assemble("unequal", "gfx942", 1, 4);
  ASSERT_TRUE(code) << code.status().message();
  for (std::uint32_t grid : {1u, 7u, 200u, 331u, 4000u}) {
    const std::vector<double> weights = unequalWeights(grid);
    auto all = test::runMicro(*code, "MI308X", 256, grid);
    auto some = test::runMicro(*code, "MI308X", 256, grid, 0, nullptr, false, weights);
    ASSERT_TRUE(all && some) << all.status().message() << some.status().message();
    EXPECT_EQ(all->modelled->executed, grid);
    EXPECT_EQ(some->modelled->workgroups, grid);
    EXPECT_LE(some->modelled->executed, 18u);
    EXPECT_GE(some->modelled->executed, std::min(grid, 16u));
    // A round more or less is as many instructions, so sizes are known exactly.
    EXPECT_NEAR(ratio(*some->modelled, *all->modelled), 1, 0.01) << grid;
    EXPECT_NEAR(some->modelled->mfmaUtilisation, all->modelled->mfmaUtilisation, 0.01);
    if (grid > 18)
      EXPECT_LT(some->instructions, all->instructions / 4);
  }
}

TEST_F(CycleModel, SamplesNeedAWeightForEachWorkgroup) {
  auto code = test::assemble("unequal", "gfx942", 1, 4);
  ASSERT_TRUE(code) << code.status().message();
  std::vector<double> weights = unequalWeights(8);
  auto text = [&](std::uint32_t grid, bool replayAll = false) {
    auto report = test::runMicro(*code, "MI308X", 256, grid, 0, nullptr, replayAll, weights);
    return report ? "" : report.status().message();
  };
  EXPECT_EQ(text(8), "");
  EXPECT_THAT(text(9), testing::HasSubstr("8 weights for 9 workgroups"));
  EXPECT_THAT(text(8, true), testing::HasSubstr("replay=sample"));
  weights[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(text(8), testing::HasSubstr("weight nan of workgroup 3"));
  weights[3] = -1;
  EXPECT_THAT(text(8), testing::HasSubstr("weight -1 of workgroup 3"));
}

TEST_F(CycleModel, WorkgroupsGoToXcdsInTurn) {
  // Every eighth workgroup is the longest, and all of these meet on one XCD: 38 compute units with
  // 76 places take 76 of them at once.
  CycleReport one = model("sum", 100, 256, 8), many = model("sum", 100, 256, 8 * 76),
              more = model("sum", 100, 256, 8 * 77);
  EXPECT_GT(many.cycles, one.cycles);
  // One is left over there and runs without a neighbour.
  EXPECT_NEAR(ratio(more, many), 1.5, 0.05);
  EXPECT_EQ(many.boundBy, "balance");
}

TEST_F(CycleModel, UnsampledWorkgroupsTakeTimeBySize) {
  CycleReport few = model("sum", 100, 64, 8), many = model("sum", 100, 64, 304);
  EXPECT_EQ(few.sampledWorkgroups, 8);
  EXPECT_EQ(few.cycles, few.longestWorkgroup);
  EXPECT_NEAR(static_cast<double>(few.cycles), static_cast<double>(many.cycles), 40);
  EXPECT_NEAR(static_cast<double>(few.cycles), 8 * (100 * 16 + 20), 1000);
}

TEST_F(CycleModel, NamesWhatBounds) {
  EXPECT_EQ(model("mfma16_dependent", 400, 256, 304).boundBy, "mfma");
  EXPECT_EQ(model("exp", 400, 256, 304).boundBy, "valu");
  EXPECT_EQ(model("lds_read128", 400, 256, 304, 16).boundBy, "lds");
  EXPECT_EQ(model("copy", 32, 256, 608).boundBy, "memory");
  EXPECT_EQ(model("l1_latency", 100, 64, 304).boundBy, "latency");
  EXPECT_EQ(model("mfma16_dependent", 400, 256, 1).boundBy, "balance");
}

TEST_F(CycleModel, ConvertsCyclesWithBothClocks) {
  CycleReport matrix = model("mfma16_dependent", 1000, 256, 304);
  EXPECT_EQ(matrix.dtype, "bf16");
  EXPECT_DOUBLE_EQ(matrix.microseconds, static_cast<double>(matrix.cycles) / 2100);
  EXPECT_NEAR(matrix.sustainedMhz, 1230, 20);
  EXPECT_GT(matrix.mfmaUtilisation, 0.9);
  CycleReport vector = model("alu", 400, 256, 304);
  EXPECT_EQ(vector.dtype, "none");
  EXPECT_EQ(vector.microseconds, vector.sustainedMicroseconds);
  EXPECT_GT(model("mfma16_dependent", 400, 256, 100).sustainedMhz, matrix.sustainedMhz);
}

TEST_F(CycleModel, SaysWhereWavesWait) {
  CycleReport report = model("lds_latency32", 100, 64, 1);
  std::uint64_t lds = 0, other = 0;
  for (const CycleReport::Line &line : report.lines)
    for (int i = 0; i < kStalls; ++i)
      (static_cast<Stall>(i) == Stall::Lds ? lds : other) += line.stalled[i];
  EXPECT_NEAR(static_cast<double>(lds), 100 * 48, 100);
  EXPECT_LT(other, 900u); // the arguments, not in any cache
  EXPECT_TRUE(std::is_sorted(report.lines.begin(), report.lines.end(),
                             [](const auto &a, const auto &b) { return a.pc < b.pc; }));
}

/// Clocks a round: what `repeat` adds.
double perRound(const std::string &kernel, int value, int few, int many) {
  CycleReport small = model(kernel, few, 64, 1, value), large = model(kernel, many, 64, 1, value);
  return static_cast<double>(large.cycles - small.cycles) / (many - few);
}

TEST_F(CycleModel, AtomicsGoToL2AndTakeTurnsOnOneAddress) {
  const auto &gfx942 = *(*cycles::findChip("", "gfx942"))->architecture;
  double apart = perRound("atomic", 4, 100, 300), together = perRound("atomic", 0, 100, 300);
  EXPECT_NEAR(apart, gfx942.l2Latency, 0.1 * gfx942.l2Latency);
  // 64 lanes take 64 turns at one address, and one where each has its own; a wave goes on at its
  // next turn, of which there is one in 4 clocks.
  constexpr double kTurn = 4;
  EXPECT_NEAR(together - apart, kLanes - 1, kTurn);
}

TEST_F(CycleModel, AFlatLoadTakesTheWayOfItsAddress) {
  const auto &gfx942 = *(*cycles::findChip("", "gfx942"))->architecture;
  double memory = perRound("flat", 0, 100, 300), lds = perRound("flat", 1, 100, 300);
  EXPECT_NEAR(memory, gfx942.l1Latency + 4, 0.1 * gfx942.l1Latency);
  EXPECT_NEAR(lds, gfx942.ldsLatency128 + 8, 6);
  EXPECT_EQ(model("flat", 100, 64, 304, 1).memoryUtilisation, 0);
}

TEST_F(CycleModel, CodeBeyondTheInstructionCacheIsFetchedAgain) {
  // 40 and 80 KB of code; the cache has 64 KiB.
  constexpr int kSmall = 10000, kLarge = 20000;
  EXPECT_NEAR(perRound("code", kSmall, 2, 4) / kSmall, 4, 0.1);
  EXPECT_GT(perRound("code", kLarge, 2, 4) / kLarge, 6);
  CycleReport report = model("code", 2, 64, 1, kSmall);
  // A line of 32 instructions takes 128 clocks, and with it comes the next one: two lines cost the
  // latency but for the time that the first takes.
  const auto &gfx942 = *(*cycles::findChip("", "gfx942"))->architecture;
  double cold = kSmall / 64.0 * (gfx942.l2Latency - 128);
  EXPECT_NEAR(static_cast<double>(report.coldCycles), cold, 0.1 * cold);
}

TEST_F(CycleModel, DoesNotDependOnHostThreads) {
  CycleReport one = model("sum", 20, 256, 700, 4, "MI325X", 1),
              two = model("sum", 20, 256, 700, 4, "MI325X", 2);
  EXPECT_EQ(one.cycles, two.cycles);
  EXPECT_EQ(one.mfmaUtilisation, two.mfmaUtilisation);
}

} // namespace
} // namespace wavesmith::emulator
