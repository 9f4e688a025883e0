// Cutting a sequence's keys changes nothing but the rounding of a merge.

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

struct Kernel {
  std::string target;
  DType dtype;
};

RunRequest request(const Kernel &kernel, std::vector<SequenceLength> lengths, bool causal,
                   int splits) {
  RunRequest made;
  made.problem.target = kernel.target;
  made.problem.dtype = kernel.dtype;
  made.problem.headDimQk = made.problem.headDimV = 64;
  made.problem.heads = 2;
  made.problem.causal = causal;
  made.problem.lengths = std::move(lengths);
  made.splits = splits;
  return made;
}

class Splits : public ::testing::TestWithParam<Kernel> {};

// Each is compared with float64, out and LSE, within the bounds of an unsplit call: a partial is
// float32, so the merge adds about 2^-23 for each piece, nothing beside the output's 2^-9, or 2^-12
// of f16. Two cuts then differ by twice those bounds at most.
TEST_P(Splits, AnyNumberOfPiecesStaysWithinTheBounds) {
  bool causal = false;
  for (const int splits : {1, 2, 3, 5, 8, 16, 64}) {
    causal = !causal;
    RunRequest made = request(GetParam(), {{257, 700}, {1, 8200}, {40, 129}}, causal, splits);
    made.problem.heads = 1;
    const auto report = runCase(made);
    EXPECT_EQ(complaints(report), "") << splits << (causal ? " causal" : "");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->partials > 0, splits > 1);
  }
}

TEST_P(Splits, PiecesThatARowDoesNotSeeCountForNothing) {
  // Causal with more queries than keys: rows without any key, and pieces that only some rows see.
  const auto report = runCase(request(GetParam(), {{700, 520}, {300, 5}, {256, 0}}, true, 4));
  EXPECT_EQ(complaints(report), "");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->errors->rowsWithoutKeys, 2u * (180 + 295 + 256));
}

TEST_P(Splits, PinnedPiecesGiveTheSameBitsEachTime) {
  std::string digest;
  for (const char *order : {"default", "vmem-early,lds-late,preemptive,poison"}) {
    RunRequest made = request(GetParam(), {{300, 2100}, {1, 900}}, true, 5);
    made.order = order;
    const auto report = runCase(made);
    ASSERT_EQ(complaints(report), "");
    if (digest.empty())
      digest = report->outputDigest;
    EXPECT_EQ(report->outputDigest, digest) << order;
  }
}

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  for (const std::string &target : targetNames())
    for (const DType dtype : {DType::BF16, DType::F16, DType::FP8})
      all.push_back({target, dtype});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Targets, Splits, ::testing::ValuesIn(kernels()), [](const auto &info) {
  return fmt::format("{}_{}", info.param.target, dtypeName(info.param.dtype));
});

} // namespace
} // namespace wavesmith::testing
