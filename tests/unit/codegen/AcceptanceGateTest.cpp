#include "compiler/codegen/AcceptanceGate.h"

#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/Linker.h"
#include "runtime/support/Status.h"
#include "tests/unit/codegen/Fixtures.h"

namespace wavesmith::compiler {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::emitText;
using testing::fixture;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message;
using testing::replaced;

/// What the fixture promises.
LoopExpectation fixtureLoop() {
  return {.loops = 1, .mfma = 8, .exp = 4, .ldsReads = 4, .valuBudget = 11, .valuSlack = 0};
}

GateReport reportOf(const std::string &ir, const LoopExpectation &expected) {
  auto object = emitText(ir, {.target = "gfx942"});
  EXPECT_TRUE(bool(object)) << message(object.takeError());
  if (!object)
    return {};
  auto linked = linkCodeObject(*object);
  EXPECT_TRUE(bool(linked));
  auto report = inspectLoops(*linked, "loop", expected);
  EXPECT_TRUE(bool(report)) << message(report.takeError());
  return report ? std::move(*report) : GateReport{};
}

std::vector<std::string> violationsOf(const std::string &ir) {
  return reportOf(ir, fixtureLoop()).violations;
}

std::string pipelined() { return fixture("pipelined_loop.ll"); }

TEST(AcceptanceGate, FixturePassesAndIsDescribed) {
  const GateReport report = reportOf(pipelined(), fixtureLoop());
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_FALSE(bool(toError(report)));
  EXPECT_EQ(report.target, "gfx942");
  ASSERT_EQ(report.loops.size(), 1u);
  const LoopReport &loop = report.loops.front();
  EXPECT_EQ(loop.mix.ldsDma, 1);
  EXPECT_EQ(loop.mix.vmcntZero, 1);
  EXPECT_FALSE(loop.masked);
  EXPECT_FALSE(loop.staging);
  EXPECT_GE(loop.resultWaitStates, 11);
  EXPECT_EQ(loop.lastMfmaToBarrier, 0);
  EXPECT_THAT(loop.phase, HasSubstr("MM<l0>MM|"));
  // The rescale in packed f32 is in the loop, but not on the path of every iteration.
  EXPECT_EQ(loop.coldMix.packedF32, 8);
  EXPECT_EQ(loop.mix.packedF32, 0);
}

TEST(AcceptanceGate, WrongCountsAreNamedWithTheExpectation) {
  LoopExpectation expected = fixtureLoop();
  expected.loops = 4;
  expected.mfma = 80;
  expected.exp = 5;
  expected.ldsReads = 3;
  expected.valuBudget = 10;
  const GateReport report = reportOf(pipelined(), expected);
  EXPECT_THAT(report.violations, Contains(HasSubstr("1 pipelined loops, expected 4")));
  EXPECT_THAT(report.violations, Contains(HasSubstr("8 MFMAs in an iteration, expected 80")));
  EXPECT_THAT(report.violations, Contains(HasSubstr("4 v_exp_f32 in an iteration, expected 5")));
  EXPECT_THAT(report.violations, Contains(HasSubstr("4 LDS reads in an iteration, expected 3")));
  EXPECT_THAT(report.violations, Contains(HasSubstr("11 vector ALU instructions in an iteration, "
                                                    "at most 10 allowed")));
  EXPECT_EQ(toStatus(toError(report)).code(), StatusCode::CompileFailed);
}

TEST(AcceptanceGate, BudgetGrowsBySlack) {
  LoopExpectation expected = fixtureLoop();
  expected.valuBudget = 5;
  expected.valuSlack = 6;
  EXPECT_THAT(reportOf(pipelined(), expected).violations, IsEmpty());
}

TEST(AcceptanceGate, MissingWaitStatesOnTheBackEdge) {
  LoopExpectation expected = fixtureLoop();
  const int states = reportOf(pipelined(), expected).loops.at(0).resultWaitStates;
  expected.resultWaitStates = states + 1;
  const std::string text = fmt::format("{} wait states between the last MFMA and the first use of "
                                       "its result, at least {} needed",
                                       states, states + 1);
  EXPECT_THAT(reportOf(pipelined(), expected).violations, ElementsAre(HasSubstr(text)));
  // One s_nop of two states less.
  const std::string shorter = replaced(pipelined(), "  call void @llvm.amdgcn.s.nop(i16 1)\n", "");
  EXPECT_EQ(reportOf(shorter, expected).loops.at(0).resultWaitStates, states - 2);
}

TEST(AcceptanceGate, SecondWaitForAllVectorMemory) {
  const std::string twice = replaced(pipelined(), "  %big = fcmp",
                                     "  call void @llvm.amdgcn.s.waitcnt(i32 3952)\n  %big = fcmp");
  EXPECT_THAT(violationsOf(twice), ElementsAre(HasSubstr("2 waits for vmcnt(0), at most 1")));
}

TEST(AcceptanceGate, WaitsAmongTheMfmas) {
  const std::string wait = replaced(pipelined(), "  %t1 = add",
                                    "  call void @llvm.amdgcn.s.waitcnt(i32 112)\n  %t1 = add");
  // 112 = 0x70: vmcnt(0) lgkmcnt(0).
  const auto violations = violationsOf(wait);
  EXPECT_THAT(violations, Contains(HasSubstr("among the MFMAs")));
}

TEST(AcceptanceGate, LgkmcntZeroBeforeTheLastRead) {
  const std::string wait = replaced(
      pipelined(), "  %pd = getelementptr",
      "  call void @llvm.amdgcn.s.waitcnt(i32 49279)\n  call void @llvm.amdgcn.sched.barrier(i32 "
      "0)\n  %pd = getelementptr"); // 0xc07f: lgkmcnt(0)
  EXPECT_THAT(violationsOf(wait), ElementsAre(HasSubstr("before the last LDS read of the phase")));
}

TEST(AcceptanceGate, DrainedPrefetch) {
  const std::string wait = replaced(pipelined(), "  call void @llvm.amdgcn.s.waitcnt(i32 3952)",
                                    "  call void @llvm.amdgcn.s.waitcnt(i32 112)");
  EXPECT_THAT(violationsOf(wait), ElementsAre(HasSubstr("drains the fragments read ahead")));
}

TEST(AcceptanceGate, MissingBarrier) {
  const std::string one = replaced(
      pipelined(), "  call void @llvm.amdgcn.s.barrier() ; CUT: opens the matrix phase", "");
  EXPECT_THAT(violationsOf(one), Contains(HasSubstr("1 s_barrier in an iteration, expected 2")));
  const std::string none = replaced(pipelined(), "  call void @llvm.amdgcn.s.barrier()", "  ;");
  EXPECT_THAT(violationsOf(none), Contains(HasSubstr("0 s_barrier in an iteration, expected 2")));
}

TEST(AcceptanceGate, InstructionsBetweenBarrierAndMfma) {
  LoopExpectation expected = fixtureLoop();
  expected.barrierToFirstMfma = 0;
  EXPECT_THAT(reportOf(pipelined(), expected).violations,
              ElementsAre(HasSubstr("1 instructions between s_barrier and the first MFMA")));
  const std::string late =
      replaced(pipelined(), "  call void @llvm.amdgcn.s.barrier() ; CUT: closes the matrix phase",
               "  call void @llvm.amdgcn.s.setprio(i16 0)\n  call void @llvm.amdgcn.s.barrier()");
  EXPECT_THAT(violationsOf(late),
              ElementsAre(HasSubstr("1 instructions between the last MFMA and s_barrier")));
}

TEST(AcceptanceGate, ForbiddenInstructions) {
  const std::string packed = replaced(
      replaced(pipelined(), "  %f0 = call float @llvm.fma.f32(float %e0, float %c, float 1.0)",
               "  %u0 = insertelement <2 x float> poison, float %e0, i32 0\n"
               "  %u1 = insertelement <2 x float> %u0, float %e1, i32 1\n"
               "  %uu = fmul <2 x float> %u1, splat (float 3.0)\n"
               "  %f0 = extractelement <2 x float> %uu, i32 0"),
      "  %f1 = call float @llvm.fma.f32(float %e1, float %c, float 1.0)",
      "  %f1 = extractelement <2 x float> %uu, i32 1");
  EXPECT_THAT(violationsOf(packed), ElementsAre(HasSubstr("1 packed f32 instructions")));
}

TEST(AcceptanceGate, DivergentDescriptorMakesALoopAroundEachAccess) {
  const std::string waterfall =
      replaced(pipelined(), "ptr addrspace(1) %in, i16 0, i64 1048576, i32 131072)\n",
               "ptr addrspace(1) %in, i16 0, i64 %records, i32 131072)\n");
  const std::string ir =
      replaced(waterfall, "  %base = mul i32 %wave, 256",
               "  %base = mul i32 %wave, 256\n  %records = zext i32 %tid to i64");
  const auto violations = violationsOf(ir);
  EXPECT_THAT(violations, Contains(HasSubstr("s_*_saveexec")));
  EXPECT_THAT(violations, Contains(HasSubstr("v_readfirstlane")));
}

TEST(AcceptanceGate, SpillsAndCopiesInTheLoop) {
  const auto violations = violationsOf(testing::starvedLoop());
  EXPECT_THAT(violations, Contains(HasSubstr("v_accvgpr moves, at most 0 allowed")));
  EXPECT_THAT(violations, Contains(HasSubstr("scratch accesses, at most 0 allowed")));
}

TEST(AcceptanceGate, KernelWithoutLoopsHasNone) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object));
  auto report = inspectLoops(*object, "store", {});
  ASSERT_TRUE(bool(report)) << message(report.takeError());
  EXPECT_TRUE(report->loops.empty());
  EXPECT_TRUE(report->violations.empty());
}

TEST(AcceptanceGate, UnknownKernelIsNamed) {
  auto object = emitText(fixture("store.ll"), {.target = "gfx942"});
  ASSERT_TRUE(bool(object));
  auto report = inspectLoops(*object, "nothing", {});
  ASSERT_FALSE(bool(report));
  EXPECT_EQ(message(report.takeError()), "the object has no kernel 'nothing'");
}

} // namespace
} // namespace wavesmith::compiler
