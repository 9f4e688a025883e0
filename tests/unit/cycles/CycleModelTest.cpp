// Occupancy, composition of the grid, clocks and reasons: what follows from the model's rules
// without a measurement.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/cycles/CycleModel.h"
#include "tests/unit/cycles/Assemble.h"

namespace wavesmith::emulator {
namespace {

CycleReport model(const std::string &kernel, int repeat, std::uint32_t block, std::uint32_t grid,
                  int value = 4, const std::string &chip = "MI325X", int threads = 0) {
  auto code = test::assemble(kernel, chip.starts_with("MI35") ? "gfx950" : "gfx942", repeat, value);
  EXPECT_TRUE(code) << code.status().message();
  auto report = test::runMicro(*code, chip, block, grid, threads);
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

TEST_F(CycleModel, AFullGridTakesOneRoundAndOneMoreWorkgroupAnother) {
  // 32 KiB of LDS: two workgroups on a compute unit.
  CycleReport full = model("alu", 400, 256, 608), over = model("alu", 400, 256, 609);
  EXPECT_EQ(full.workgroupsPerCu, 2);
  EXPECT_NEAR(static_cast<double>(over.cycles) / static_cast<double>(full.cycles), 2, 0.1);
  EXPECT_GT(full.balance, 0.99);
  EXPECT_LT(over.balance, 0.6);
}

TEST_F(CycleModel, WorkgroupsGoToXcdsInTurn) {
  // Every eighth workgroup is the longest, and all of these meet on one XCD: 38 compute units with
  // 76 places take 76 of them at once.
  CycleReport one = model("sum", 100, 256, 8), many = model("sum", 100, 256, 8 * 76),
              more = model("sum", 100, 256, 8 * 77);
  EXPECT_GT(many.cycles, one.cycles);
  EXPECT_NEAR(static_cast<double>(more.cycles), 2.0 * static_cast<double>(many.cycles),
              0.05 * static_cast<double>(more.cycles));
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
  CycleReport matrix = model("mfma16_dependent", 400, 256, 304);
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
  EXPECT_LT(other, 500u);
  EXPECT_TRUE(std::is_sorted(report.lines.begin(), report.lines.end(),
                             [](const auto &a, const auto &b) { return a.pc < b.pc; }));
}

TEST_F(CycleModel, DoesNotDependOnHostThreads) {
  CycleReport one = model("sum", 20, 256, 700, 4, "MI325X", 1),
              two = model("sum", 20, 256, 700, 4, "MI325X", 2);
  EXPECT_EQ(one.cycles, two.cycles);
  EXPECT_EQ(one.mfmaUtilisation, two.mfmaUtilisation);
}

} // namespace
} // namespace wavesmith::emulator
