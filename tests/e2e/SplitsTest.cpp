// Cutting a sequence's keys changes nothing but the rounding of a merge.

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

RunRequest request(std::vector<SequenceLength> lengths, bool causal, int splits) {
  RunRequest made;
  made.problem.headDimQk = made.problem.headDimV = 64;
  made.problem.heads = 2;
  made.problem.causal = causal;
  made.problem.lengths = std::move(lengths);
  made.splits = splits;
  return made;
}

// Each is compared with float64 within the bounds of an unsplit call: a partial is float32, so the
// merge adds about 2^-23 for each piece, nothing beside the output's 2^-9.
TEST(Splits, AnyNumberOfPiecesStaysWithinTheBounds) {
  for (const bool causal : {false, true})
    for (const int splits : {1, 2, 3, 5, 8, 16, 64}) {
      const auto report = runCase(request({{300, 2100}, {40, 8200}, {257, 129}}, causal, splits));
      EXPECT_EQ(complaints(report), "") << splits << (causal ? " causal" : "");
      ASSERT_TRUE(report);
      EXPECT_EQ(report->partials > 0, splits > 1);
    }
}

TEST(Splits, PiecesThatARowDoesNotSeeCountForNothing) {
  // Causal with more queries than keys: rows without any key, and pieces that only some rows see.
  const auto report = runCase(request({{700, 520}, {300, 5}, {256, 0}}, true, 4));
  EXPECT_EQ(complaints(report), "");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->errors->rowsWithoutKeys, 2u * (180 + 295 + 256));
}

TEST(Splits, PinnedPiecesGiveTheSameBitsEachTime) {
  std::string digest;
  for (const char *order : {"default", "vmem-early,lds-late,preemptive,poison"}) {
    RunRequest made = request({{300, 2100}, {1, 900}}, true, 5);
    made.order = order;
    const auto report = runCase(made);
    ASSERT_EQ(complaints(report), "");
    if (digest.empty())
      digest = report->outputDigest;
    EXPECT_EQ(report->outputDigest, digest) << order;
  }
}

} // namespace
} // namespace wavesmith::testing
