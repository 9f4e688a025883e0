// Random attention calls against float64, each in an execution order of its own, with every check
// of the emulator on, NaN in the inputs' padding and canaries in the outputs'.

#include <set>

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

constexpr int kDefaultCases = 48, kLongCases = 400;

class RandomCases : public ::testing::TestWithParam<int> {};

TEST_P(RandomCases, MatchTheReference) {
  const RunRequest request = drawCase(GetParam());
  SCOPED_TRACE(commandLine(request));
  const auto report = runCase(request);
  EXPECT_EQ(complaints(report), "");
}

INSTANTIATE_TEST_SUITE_P(Default, RandomCases, ::testing::Range(0, kDefaultCases));
INSTANTIATE_TEST_SUITE_P(Long, RandomCases, ::testing::Range(kDefaultCases, kLongCases));

TEST(RandomCases, CoverEveryOrderShapeAndKindOfBatch) {
  std::set<std::string> orders, shapes;
  std::set<int> splits;
  bool grouped = false, empty = false, rowsWithoutKeys = false, padded = false, noLse = false;
  for (int number = 0; number < kDefaultCases; ++number) {
    const RunRequest request = drawCase(number);
    const AttentionProblem &problem = request.problem;
    orders.insert(request.order);
    splits.insert(request.splits);
    shapes.insert(fmt::format("{} {} {}x{} {}", problem.target, dtypeName(problem.dtype),
                              problem.headDimQk, problem.headDimV, problem.causal));
    grouped |= problem.heads != problem.kvHeads;
    padded |= request.padding != 0;
    noLse |= !problem.writeLse;
    for (const SequenceLength &length : problem.lengths) {
      empty |= length.q == 0 || length.kv == 0;
      rowsWithoutKeys |= problem.causal && length.q > length.kv;
    }
  }
  EXPECT_EQ(orders.size(), allOrders().size());
  EXPECT_EQ(shapes.size(), 24u * knownTargets().size());
  EXPECT_EQ(splits, (std::set{0, 1, 2, 3, 64}));
  EXPECT_TRUE(grouped && empty && rowsWithoutKeys && padded && noLse);
}

} // namespace
} // namespace wavesmith::testing
