// No plan asks for a kernel that kernelFamily() does not list, so that what is tested there is all
// there is.

#include "runtime/spec/KernelFamily.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "runtime/dispatch/DeviceLengths.h"
#include "runtime/dispatch/QuantizedPlan.h"

namespace wavesmith {
namespace {

class Draw {
public:
  bool flag() { return engine_() & 1; }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_()) % n; }

private:
  std::minstd_rand engine_{1};
};

AttentionProblem drawProblem(Draw &draw, const std::string &target) {
  AttentionProblem problem;
  problem.target = target;
  const HeadDims dims = headDims()[static_cast<std::size_t>(draw.below(4))];
  problem.headDimQk = dims.qk;
  problem.headDimV = dims.v;
  problem.dtype = draw.flag() ? DType::FP8 : draw.flag() ? DType::F16 : DType::BF16;
  problem.f16Out = problem.dtype == DType::FP8 && draw.flag();
  problem.causal = draw.flag();
  problem.writeLse = draw.flag();
  problem.sink = draw.flag();
  if (draw.flag())
    problem.softCap = 30;
  if (draw.flag())
    problem.window = {draw.below(3000) - 1, draw.below(3) - 1};
  problem.heads = 2;
  problem.lengths = {{1 + draw.below(600), draw.below(5000)}};
  return problem;
}

TEST(KernelFamily, ListsWhatPlansAskFor) {
  std::size_t listed = 0;
  std::set<std::string> asked;
  for (const Target &target : knownTargets()) {
    std::set<std::string> family;
    for (const KernelSpec &spec : kernelFamily(target.name))
      family.insert(spec.text());
    listed += attentionFamily(target.name).size();
    const auto check = [&](const LaunchList &list) {
      for (const KernelSpec &spec : list.kernels()) {
        EXPECT_TRUE(family.contains(spec.text())) << spec.text();
        if (!spec.isRowKernel())
          asked.insert(spec.text());
      }
    };
    Draw draw;
    for (int number = 0; number < 16000; ++number) {
      const AttentionProblem problem = drawProblem(draw, target.name);
      const PlanOptions options{.splits = draw.flag() ? 4 : 1};
      const auto plan = planAttention(problem, options);
      ASSERT_TRUE(plan) << plan.status().message();
      check(launchList(*plan));
      if (problem.dtype != DType::FP8)
        continue;
      Quantization how;
      how.scales = static_cast<Quantization::Scales>(draw.below(3));
      constexpr const char *kInputs[] = {"bf16", "f16", "f32"};
      how.input = kInputs[draw.below(3)];
      how.rotationQ = how.rotationK = draw.flag() ? kSampleRotation : 0;
      how.keysInParts = problem.headDimQk == 192 && draw.flag();
      const auto quantized = planQuantized(problem, how, options);
      ASSERT_TRUE(quantized) << quantized.status().message();
      check(launchList(*quantized));
    }
    for (int number = 0; number < 100; ++number) {
      AttentionProblem problem = drawProblem(draw, target.name);
      // Score functions need lengths that the host knows.
      problem.lengths = {};
      problem.window = {};
      problem.softCap.reset();
      problem.sink = false;
      const auto plan = planDeviceLengths(problem, {.sequences = 3, .queries = 900, .keys = 900});
      ASSERT_TRUE(plan) << plan.status().message();
      check(launchList(*plan));
    }
  }
  // And each attention kernel that is listed is asked for by some call.
  EXPECT_EQ(asked.size(), listed);
}

} // namespace
} // namespace wavesmith
