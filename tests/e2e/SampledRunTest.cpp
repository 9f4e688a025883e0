// A run of some workgroups stands for the whole call's time.

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

RunRequest request(DType dtype, bool causal, std::vector<SequenceLength> lengths) {
  RunRequest made;
  made.problem.dtype = dtype;
  made.problem.heads = 2;
  made.problem.causal = causal;
  made.problem.lengths = std::move(lengths);
  made.chip = "MI308X";
  made.checks = "none";
  made.modelCycles = true;
  made.verify = false;
  return made;
}

// Trips decide a unit's instructions, and the sample has the shortest and the longest; what is left
// is masked tiles, which not all units of a length have.
TEST(SampledRun, TakesAsLongAsTheWholeOne) {
  const std::vector<SequenceLength> batches[] = {{{2048, 3072}},
                                                 {{300, 700}, {1, 5000}, {900, 900}}};
  for (const bool causal : {false, true})
    for (const std::vector<SequenceLength> &batch : batches) {
      RunRequest made = request(causal ? DType::FP8 : DType::BF16, causal, batch);
      const auto whole = runCase(made);
      made.sample = true;
      const auto sampled = runCase(made);
      ASSERT_EQ(complaints(whole), "");
      ASSERT_EQ(complaints(sampled), "");
      ASSERT_TRUE(whole->modelled && sampled->modelled);
      const ModelledTime::Kernel &attention = sampled->modelled->kernels.at(0);
      EXPECT_EQ(attention.workgroups, whole->workUnits);
      EXPECT_LE(attention.executed, 18u);
      EXPECT_EQ(whole->modelled->kernels.at(0).executed, whole->workUnits);
      EXPECT_NEAR(static_cast<double>(sampled->modelled->cycles) /
                      static_cast<double>(whole->modelled->cycles),
                  1, 0.02);
      // The merge runs whole.
      ASSERT_EQ(sampled->modelled->kernels.size(), whole->modelled->kernels.size());
      if (whole->modelled->kernels.size() > 1)
        EXPECT_EQ(sampled->modelled->kernels[1].executed, whole->modelled->kernels[1].executed);
      if (whole->workUnits > 36)
        EXPECT_LT(sampled->emulated->instructions, whole->emulated->instructions / 4 * 3);
    }
}

} // namespace
} // namespace wavesmith::testing
