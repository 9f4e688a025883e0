// The differential tests' own tests: what they find when there is something to find.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/differential/Conversions.h"
#include "tests/differential/Generator.h"
#include "tests/differential/Matrices.h"
#include "tests/differential/Reducer.h"
#include "tests/differential/Runner.h"

namespace wavesmith::differential {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DifferentialGenerator, SameSeedSameProgram) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    EXPECT_EQ(generate(seed).source(), generate(seed).source());
    EXPECT_NE(generate(seed).source(), generate(seed + 1).source());
  }
}

TEST(DifferentialGenerator, DrawsEveryExchangeAndKindOfStatement) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 1500; ++seed)
    all += generate(seed).source();
  for (const char *part :
       {"wave::ReadFirst",  "wave::ReadLane",   "wave::Ballot",     "wave::CompareMask",
        "wave::CountBelow", "wave::Gather",     "wave::Scatter",    "wave::Swizzle",
        "wave::Dpp",        "Fold::Add",        "Fold::Xor",        "PermlaneSwap<16>",
        "PermlaneSwap<32>", "switch (",         "break;",           "continue;",
        "for (s.i",         "f0(n - 1, ",       "q0(s, c);",        "r.barrier();",
        "c.lds + ",         "c.shared + ",      "Tight t",          "atomicCompareExchange",
        "fused(",           "quotient(",        "remainder(",       "bits<",
        "funnelLeft(",      "matrix::mfma_f32", "matrix::mfma_i32", "matrix::mfma_f64",
        "matrix::smfmac",   "f8f6f4<"})
    EXPECT_NE(all.find(part), std::string::npos) << part;
}

/// A generated program with `text` among the statements of its first step.
Program withPlanted(const std::string &text) {
  Program program = generate(7);
  for (Node &step : program.steps.children)
    if (step.kind == Node::Kind::Statement && !step.children.empty() &&
        step.children[0].kind == Node::Kind::Block) {
      Node branch = statement(
          "if ($) $", {expression({Element::U8, 1}, "c.local == 5"), block({statement(text)})});
      auto &statements = step.children[0].children;
      statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(statements.size() / 2),
                        branch);
      return program;
    }
  ADD_FAILURE() << "the program has no step to plant in";
  return program;
}

class DifferentialRunner : public testing::Test {
protected:
  void SetUp() override {
    auto toolchain = Toolchain::create();
    if (!toolchain)
      GTEST_SKIP() << toolchain.status().message();
    runner_.emplace(*std::move(toolchain));
  }
  Verdict run(const Program &program) {
    return runner_->run(std::span(&program, 1), {"gfx942", "O1", {"default"}})[0];
  }
  /// How many ran; each must give the host's results.
  std::uint64_t runEach(const std::vector<Exchange> &exchanges,
                        std::initializer_list<const char *> targets) {
    std::vector<Program> programs;
    for (const Exchange &exchange : exchanges)
      programs.push_back(exchangeProgram(programs.size() + 1, exchange));
    for (const char *target : targets) {
      const auto verdicts = runner_->run(programs, {target, "O1", {"default"}});
      for (std::size_t i = 0; i < programs.size(); ++i)
        EXPECT_EQ(verdicts[i].kind, Verdict::Kind::Same)
            << target << " " << exchanges[i].name << ": " << verdicts[i].text;
    }
    return runner_->runs();
  }
  std::optional<Runner> runner_;
};

TEST_F(DifferentialRunner, FindsAndReducesADifference) {
  // The one thing that the two sides disagree on is how wide an LDS pointer is.
  const std::string planted = "store<u32, 4>(c.own + 16, u32(sizeof(c.lds)));";
  const Program program = withPlanted(planted);
  const Verdict verdict = run(program);
  ASSERT_EQ(verdict.kind, Verdict::Kind::Different) << verdict.text;
  EXPECT_THAT(verdict.text, HasSubstr("work-item 5, byte 16"));
  const Program small = reduce(program, [&](const Program &candidate) {
    return run(candidate).kind == Verdict::Kind::Different;
  });
  EXPECT_THAT(small.source(), HasSubstr(planted));
  EXPECT_THAT(small.source(), Not(HasSubstr("if (")));
  EXPECT_LE(countStatements(small), 12) << small.source();
  EXPECT_GT(countStatements(program), 20);
}

TEST_F(DifferentialRunner, TellsFaultsAndCompilerErrors) {
  // Legal on the host, where the LDS is memory like any other.
  const Verdict fault =
      run(withPlanted("if (sizeof(c.lds) == 4) store<u32, 4>(c.lds + 100000, 1);"));
  EXPECT_EQ(fault.kind, Verdict::Kind::Fault) << fault.text;
  const Verdict refused = run(withPlanted("no such thing;"));
  EXPECT_EQ(refused.kind, Verdict::Kind::NotCompiled);
  EXPECT_THAT(refused.text, HasSubstr("error: "));
}

TEST_F(DifferentialRunner, EveryMatrixInstructionMultiplies) {
  Random random(950);
  const std::vector<Exchange> all = everyMatrix(random);
  ASSERT_EQ(all.size(), 116u);
  EXPECT_EQ(runEach(all, {"gfx942", "gfx950"}), 46u + 114u);
}

TEST_F(DifferentialRunner, EveryScaledConversionConverts) {
  const std::vector<Exchange> all = everyConversion();
  ASSERT_EQ(all.size(), 118u);
  EXPECT_EQ(runEach(all, {"gfx950"}), 118u);
}

TEST_F(DifferentialRunner, EveryTransposingReadTransposes) {
  EXPECT_EQ(runEach(everyTransposingRead(), {"gfx950"}), 4u);
}

} // namespace
} // namespace wavesmith::differential
