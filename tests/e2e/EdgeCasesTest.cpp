// Lengths at the borders of waves, tiles and workgroups, batches with holes, rows without keys.

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

RunRequest request(int qk, int v, bool causal, std::vector<SequenceLength> lengths,
                   const std::string &target = "gfx942") {
  RunRequest made;
  made.problem.target = target;
  made.problem.headDimQk = qk;
  made.problem.headDimV = v;
  made.problem.causal = causal;
  made.problem.lengths = std::move(lengths);
  made.padding = 8;
  return made;
}

class EdgeLengths : public ::testing::TestWithParam<std::tuple<std::string, int, bool>> {};

TEST_P(EdgeLengths, OfQueriesAndKeysTogether) {
  auto [target, qk, causal] = GetParam();
  std::vector<SequenceLength> lengths;
  for (const int edge : {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257})
    lengths.push_back({edge, edge});
  const auto report = runCase(request(qk, qk == 64 ? 64 : 128, causal, lengths, target));
  EXPECT_EQ(complaints(report), "");
}

TEST_P(EdgeLengths, OfKeysUnderOneQuery) {
  auto [target, qk, causal] = GetParam();
  std::vector<SequenceLength> lengths;
  for (const int edge : {0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129})
    lengths.push_back({1, edge});
  const auto report = runCase(request(qk, qk == 64 ? 64 : 128, causal, lengths, target));
  EXPECT_EQ(complaints(report), "");
}

TEST_P(EdgeLengths, OfMoreQueriesThanKeys) {
  auto [target, qk, causal] = GetParam();
  std::vector<SequenceLength> lengths;
  for (const int keys : {0, 1, 31, 32, 33, 255, 256})
    lengths.push_back({300, keys});
  const auto report = runCase(request(qk, qk == 64 ? 64 : 128, causal, lengths, target));
  ASSERT_EQ(complaints(report), "");
  EXPECT_EQ(report->errors->rowsWithoutKeys > 0, true);
}

INSTANTIATE_TEST_SUITE_P(All, EdgeLengths,
                         ::testing::Combine(::testing::ValuesIn(targetNames()),
                                            ::testing::Values(64, 128, 192), ::testing::Bool()));

TEST(EdgeCases, NothingToDo) {
  for (const std::string &target : targetNames())
    for (const std::vector<SequenceLength> &lengths :
         {std::vector<SequenceLength>{{0, 0}}, {{0, 7}}, {{0, 0}, {0, 100}}})
      EXPECT_EQ(complaints(runCase(request(64, 64, true, lengths, target))), "");
}

TEST(EdgeCases, HolesAtEveryPlaceOfABatch) {
  for (const std::vector<SequenceLength> &lengths :
       {std::vector<SequenceLength>{{0, 0}, {40, 40}, {50, 50}},
        {{40, 40}, {0, 30}, {50, 50}},
        {{40, 40}, {50, 0}, {30, 50}},
        {{0, 5}, {1, 0}, {0, 0}, {1, 1}, {0, 9}}})
    for (const bool causal : {false, true})
      EXPECT_EQ(complaints(runCase(request(64, 64, causal, lengths))), "");
}

TEST(EdgeCases, EveryHeadCountWithItsKeyHeads) {
  for (const std::int64_t heads : {1, 2, 3, 5, 7, 12, 16, 128}) {
    RunRequest made = request(64, 64, true, {{33, 65}});
    made.problem.heads = heads;
    made.problem.kvHeads = heads % 4 == 0 ? heads / 4 : 1;
    EXPECT_EQ(complaints(runCase(made)), "") << heads << " heads";
  }
}

TEST(EdgeCases, AwayFromUnitScale) {
  // Scores far from each other: references move at every step, weights underflow.
  for (const std::string &target : targetNames())
    for (const double scale : {1e-4, 1.0, 4.0}) {
      RunRequest made = request(192, 128, true, {{200, 300}}, target);
      made.problem.scale = scale;
      EXPECT_EQ(complaints(runCase(made)), "") << target << ", scale " << scale;
    }
}

} // namespace
} // namespace wavesmith::testing
