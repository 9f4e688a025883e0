// The four hand-written kernels run right and clean in every execution order: what the emulator's
// orders and checks must not break on correct code.

#include <cstdio>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "runtime/verify/Parallel.h"
#include "tests/mutation/Trial.h"

namespace wavesmith::testing {
namespace {

class ReferenceKernels : public ::testing::TestWithParam<std::string> {};

/// Every order, orders in parallel, one host thread each.
void expectRightInEveryOrder(const std::string &kernel,
                             const std::vector<ReferenceProblem> &problems) {
  const auto trial = referenceTrial(kernel, problems);
  ASSERT_TRUE(trial) << trial.status().message();
  const auto object = compileIr(trial->ir, trial->name, trial->target);
  ASSERT_TRUE(object) << object.status().message();
  const std::vector<emulator::ExecutionOrder> orders = allExecutionOrders();
  for (const auto &problem : trial->problems) {
    std::mutex mutex;
    std::string wrong;
    parallelFor(static_cast<std::int64_t>(orders.size()), [&](std::int64_t i) {
      const auto outcome =
          problem->run(*object, {.order = orders[static_cast<std::size_t>(i)], .threads = 1});
      const std::string complaint = outcome ? outcome->complaint : outcome.status().message();
      if (complaint.empty())
        return;
      const std::lock_guard lock(mutex);
      wrong += orders[static_cast<std::size_t>(i)].text() + ": " + complaint + "\n";
    });
    EXPECT_EQ(wrong, "") << kernel << ": " << problem->text();
  }
}

TEST_P(ReferenceKernels, RightAndCleanInEveryOrder) {
  expectRightInEveryOrder(
      GetParam(), {
                      // Full and masked tiles, a ragged end, both wave groups, moving maxima.
                      {.lenQ = 203, .lenKv = 331, .growth = 3, .padding = 16},
                      {.lenQ = 150, .lenKv = 40},               // rows without keys
                      {.lenQ = 100, .lenKv = 300, .splits = 2}, // partials
                  });
}

class ReferenceKernelsLong : public ReferenceKernels {};

TEST_P(ReferenceKernelsLong, LengthsInEveryOrder) {
  expectRightInEveryOrder(GetParam(), {
                                          {.lenQ = 1, .lenKv = 1},
                                          {.lenQ = 1, .lenKv = 700},
                                          {.lenQ = 33, .lenKv = 31},
                                          {.lenQ = 300, .lenKv = 40, .heads = 2},
                                          {.lenQ = 256, .lenKv = 256, .growth = 3},
                                          {.lenQ = 257, .lenKv = 513, .heads = 2, .padding = 32},
                                          {.lenQ = 600, .lenKv = 900, .growth = 3},
                                      });
}

TEST_P(ReferenceKernelsLong, PartialsInEveryOrder) {
  expectRightInEveryOrder(GetParam(),
                          {
                              {.lenQ = 203, .lenKv = 700, .splits = 3, .growth = 3},
                              {.lenQ = 400, .lenKv = 300, .heads = 2, .splits = 2, .padding = 16},
                          });
}

std::string nameOf(const ::testing::TestParamInfo<std::string> &info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Default, ReferenceKernels, ::testing::ValuesIn(referenceKernels()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Long, ReferenceKernelsLong, ::testing::ValuesIn(referenceKernels()),
                         nameOf);

} // namespace
} // namespace wavesmith::testing
