#include "runtime/verify/ErrorReport.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/verify/Element16.h"

namespace wavesmith {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Results that a perfect kernel would write: the reference, rounded.
struct ErrorReportTest : ::testing::Test {
  CheckedProblem checked;
  AttentionReference reference;
  HostTensor out, lse;

  void SetUp() override { fillOf(DType::BF16); }
  void fillOf(DType dtype) {
    AttentionProblem problem;
    problem.dtype = dtype;
    problem.heads = 3;
    problem.causal = true;
    problem.lengths = {{20, 20}, {4, 2}};
    problem.out = {.row = 3 * 136 + 8, .head = 136};
    problem.lseHeadStride = 30;
    checked = *checkProblem(problem);
    HostTensor q(checked.q, std::byte{0xff}), k(checked.k, std::byte{0xff}),
        v(checked.v, std::byte{0xff});
    q.fillNormal(dtype, 1, 0);
    k.fillNormal(dtype, 1, 1);
    v.fillNormal(dtype, 1, 2);
    reference = attentionReference(checked, q, k, v);
    out = HostTensor(checked.out, std::byte{0xa5});
    lse = HostTensor(checked.lse, std::byte{0xa5});
    for (std::int64_t row = 0; row < checked.totalQ; ++row)
      for (std::int64_t head = 0; head < 3; ++head) {
        for (int i = 0; i < 128; ++i)
          out.at<std::uint16_t>(row, head)[i] =
              doubleToElement(dtype, reference.outRow(row, head)[i]);
        *lse.at<float>(row, head) = static_cast<float>(reference.lseOf(row, head));
      }
  }
  std::vector<std::string> failures() {
    return compareWithReference(checked, reference, out, &lse).failures({});
  }
};

TEST_F(ErrorReportTest, APerfectKernelPasses) {
  const ErrorReport report = compareWithReference(checked, reference, out, &lse);
  EXPECT_THAT(report.failures({}), IsEmpty());
  EXPECT_EQ(report.rowsWithoutKeys, 2 * 3);
  EXPECT_EQ(report.rowsCompared, 22 * 3);
  EXPECT_GT(report.outRelRms, 1e-4); // rounding to bf16 is seen
  EXPECT_LT(report.outRelRms, 3e-3);
  EXPECT_LT(report.fewKeys.lseRel, 1e-6);
}

TEST_F(ErrorReportTest, ResultsInF16HaveThreeBitsMore) {
  fillOf(DType::F16);
  const AttentionTolerance f16 = AttentionTolerance::of(DType::F16);
  EXPECT_DOUBLE_EQ(f16.outRelRms, 3.75e-4);
  EXPECT_DOUBLE_EQ(f16.manyKeys.rel, 1e-3);
  EXPECT_DOUBLE_EQ(f16.fewKeys.maxRel, 2.5e-3);
  EXPECT_EQ(f16.manyKeys.lseRel, RowBounds{}.lseRel);
  const ErrorReport report = compareWithReference(checked, reference, out, &lse);
  EXPECT_THAT(report.failures(f16), IsEmpty());
  EXPECT_GT(report.outRelRms, 1e-5);
  // An error that bf16 would have anyway.
  for (std::int64_t row = 0; row < checked.totalQ; ++row)
    for (std::int64_t head = 0; head < 3; ++head)
      for (int i = 0; i < 128; ++i)
        out.at<std::uint16_t>(row, head)[i] =
            doubleToHalf(double{bf16ToFloat(doubleToBf16(reference.outRow(row, head)[i]))});
  const ErrorReport coarse = compareWithReference(checked, reference, out, &lse);
  AttentionTolerance bf16;
  bf16.oneKey = 5;
  EXPECT_THAT(coarse.failures(bf16), IsEmpty());
  EXPECT_THAT(coarse.failures(f16), testing::Not(IsEmpty()));
}

TEST_F(ErrorReportTest, OneWrongRowIsNamed) {
  for (int i = 0; i < 128; ++i)
    out.at<std::uint16_t>(7, 2)[i] ^= 0x8000;
  const auto lines = failures();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[1], HasSubstr("||error|| / ||row|| of out is 2, at most 0.008 is right: "
                                  "sequence 0 row 7 head 2"));
}

/// Whatever the bounds of other rows: the first row of the second sequence sees one key.
TEST_F(ErrorReportTest, RowsOfOneKeyAreItsValueRoundedOnce) {
  const auto row =
      static_cast<std::int64_t>(std::ranges::find(reference.seen, 1) - reference.seen.begin());
  ASSERT_LT(row, checked.totalQ);
  AttentionTolerance loose = AttentionTolerance::of(DType::FP8);
  for (const DType type : {DType::BF16, DType::F16}) {
    fillOf(type);
    const auto failures = [&] {
      return compareWithReference(checked, reference, out, &lse).failures(loose);
    };
    EXPECT_THAT(failures(), IsEmpty());
    for (int head = 0; head < 3; ++head)
      for (int i = 0; i < 128; ++i) {
        std::uint16_t &bits = out.at<std::uint16_t>(row, head)[i];
        // The neighbour on the other side of the exact value.
        const double error = elementToFloat(type, bits) - reference.outRow(row, head)[i];
        const bool up = (error < 0) == ((bits & 0x8000) == 0);
        bits = static_cast<std::uint16_t>(up ? bits + 1 : bits - 1);
      }
    EXPECT_THAT(failures(), ElementsAre(AllOf(HasSubstr("rows of one key"),
                                              HasSubstr("at most 0.55 is right"))));
  }
}

TEST_F(ErrorReportTest, NanNeverPasses) {
  out.at<std::uint16_t>(3, 1)[5] = 0x7fc0;
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("is nan"), HasSubstr("sequence 0 row 3 head 1"),
                                      HasSubstr("sequence 0 row 3 head 1")));
  SetUp();
  *lse.at<float>(3, 1) = std::nanf("");
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("of lse is nan")));
}

TEST_F(ErrorReportTest, LseIsRelativeAboveOne) {
  *lse.at<float>(20 + 3, 0) += 1e-4f;
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("sequence 1 row 3 head 0")));
}

TEST_F(ErrorReportTest, RowsWithFewKeysHaveBoundsOfTheirOwn) {
  const AttentionTolerance fp8 = AttentionTolerance::of(DType::FP8);
  const auto lines = [&] {
    return compareWithReference(checked, reference, out, &lse).failures(fp8);
  };
  EXPECT_LT(reference.seen[7], kManyKeys);
  *lse.at<float>(7, 0) += 0.04f;
  EXPECT_THAT(lines(), IsEmpty());
  reference.seen[7] = kManyKeys;
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("|error| of lse is 0.04, at most 0.02 is right: "
                                             "sequence 0 row 7 head 0")));
}

TEST_F(ErrorReportTest, ASoftCapAddsItsOwnErrorToTheLse) {
  AttentionProblem problem = checked.problem;
  EXPECT_EQ(AttentionTolerance::of(problem).fewKeys, RowBounds{});
  problem.softCap = 32;
  const AttentionTolerance capped = AttentionTolerance::of(problem);
  EXPECT_DOUBLE_EQ(capped.fewKeys.lseRel, RowBounds{}.lseRel + 0x1p-16);
  EXPECT_EQ(capped.manyKeys, capped.fewKeys);
}

TEST_F(ErrorReportTest, FewRowsHaveNoMean) {
  AttentionProblem problem = checked.problem;
  EXPECT_DOUBLE_EQ(AttentionTolerance::of(problem).outRelRms, 3e-3 + 5e-3 / (24 * 3));
  problem.heads = 1;
  problem.lengths = {{1, 500}, {0, 5}};
  EXPECT_DOUBLE_EQ(AttentionTolerance::of(problem).outRelRms, 8e-3);
  problem.dtype = DType::FP8;
  EXPECT_DOUBLE_EQ(AttentionTolerance::of(problem).outRelRms, 6e-2);
  problem.lengths = {{1, 500}, {1, 5}};
  EXPECT_DOUBLE_EQ(AttentionTolerance::of(problem).outRelRms, 3e-2 + 12e-2 / 2);
  problem.lengths = {};
  EXPECT_DOUBLE_EQ(AttentionTolerance::of(problem).outRelRms, 3e-2);
}

TEST_F(ErrorReportTest, RowsWithoutKeysHaveTheirSink) {
  reference.lse[static_cast<std::size_t>(2 * reference.rows + 21)] = 1.5;
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("sequence 1 row 1 head 2")));
  *lse.at<float>(21, 2) = 1.5f;
  EXPECT_THAT(failures(), IsEmpty());
}

TEST_F(ErrorReportTest, RowsWithoutKeysMustBeExact) {
  out.at<std::uint16_t>(20, 0)[9] = 0x8000; // -0 is 0
  EXPECT_THAT(failures(), IsEmpty());
  out.at<std::uint16_t>(20, 0)[9] = 0x0001;
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("1 of 6 rows without keys")));
  out.at<std::uint16_t>(20, 0)[9] = 0;
  *lse.at<float>(21, 2) = -1e30f;
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("sequence 1 row 1 head 2")));
  *lse.at<float>(21, 2) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(failures().size(), 1u);
}

TEST_F(ErrorReportTest, CanariesAreWatched) {
  out.at<std::uint16_t>(0, 0)[128] = 0;
  lse.at<float>(23, 2)[1] = 0;
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("out: canary"), HasSubstr("lse: canary")));
}

TEST_F(ErrorReportTest, WithoutLse) {
  EXPECT_THAT(compareWithReference(checked, reference, out, nullptr).failures({}), IsEmpty());
}

} // namespace
} // namespace wavesmith
