// The CPU model of our kernels against the emulated kernels: every bit of out and lse, on both
// targets, for every type and head dims, over random batches with and without masks.

#include <cstring>

#include <gtest/gtest.h>

#include "runtime/numerics/AttentionModel.h"
#include "runtime/numerics/QuantizerModel.h"
#include "runtime/verify/Random.h"
#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

constexpr struct {
  int qk, v;
} kDims[] = {{64, 64}, {128, 128}, {192, 128}, {256, 256}};

enum class Masks : std::uint8_t { None, Causal, Window };

struct Case {
  std::string target;
  DType dtype;
  int dims;
  Masks masks;
  bool f16Out = false;
};

std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  constexpr const char *masks[] = {"", "Causal", "Window"};
  return fmt::format("{}_{}_{}x{}{}{}", info.param.target, dtypeName(info.param.dtype),
                     kDims[info.param.dims].qk, kDims[info.param.dims].v,
                     masks[static_cast<int>(info.param.masks)], info.param.f16Out ? "F16Out" : "");
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const std::string &target : targetNames()) {
    for (const DType dtype : {DType::BF16, DType::F16, DType::FP8})
      for (int dims = 0; dims < 4; ++dims)
        for (const Masks masks : {Masks::None, Masks::Causal, Masks::Window})
          cases.push_back({target, dtype, dims, masks});
    for (int dims = 0; dims < 4; ++dims)
      cases.push_back({target, DType::FP8, dims, Masks::Causal, /*f16Out=*/true});
  }
  return cases;
}

class Numerics : public ::testing::TestWithParam<Case> {
protected:
  /// Lengths at random: a block with a second one behind it, a few rows over many tiles, rows that
  /// see nothing.
  static RunRequest request(const Case &drawn, int number) {
    RunRequest request;
    AttentionProblem &problem = request.problem;
    problem.target = drawn.target;
    problem.dtype = drawn.dtype;
    problem.f16Out = drawn.f16Out;
    problem.headDimQk = kDims[drawn.dims].qk;
    problem.headDimV = kDims[drawn.dims].v;
    problem.causal = drawn.masks == Masks::Causal;
    if (drawn.masks == Masks::Window)
      problem.window = {.left = 70, .right = 3};
    problem.heads = 2;
    problem.kvHeads = 1;
    auto below = [&](std::uint64_t index, std::uint64_t bound) {
      return static_cast<std::int64_t>(randomBits(static_cast<std::uint64_t>(number), 7, index) %
                                       bound);
    };
    problem.lengths = {{1 + below(0, 40), 300 + below(1, 600)},
                       {260 + below(2, 30), below(3, 300)}};
    request.seed = 100 + static_cast<std::uint64_t>(number);
    request.padding = 16;
    request.splits = 1;
    return request;
  }

  /// Grows scores along the keys, so that references move often.
  static void peak(const CheckedProblem &checked, HostTensor &k) {
    const int mantissa = checked.problem.dtype == DType::F16 ? 10 : 7;
    for (std::int64_t row = 0; row < k.shape().rows; ++row)
      for (std::int64_t i = 0; i < k.shape().dim; ++i) {
        if (checked.problem.dtype == DType::FP8) {
          // The largest codes have no larger ones: the others shrink, or vanish.
          std::uint8_t &code = k.at<std::uint8_t>(row, 0)[i];
          const auto octaves = static_cast<int>(3 - row / 100 % 4);
          code = (code >> 3 & 15) > octaves ? static_cast<std::uint8_t>(code - (octaves << 3)) : 0;
          continue;
        }
        std::uint16_t &bits = k.at<std::uint16_t>(row, 0)[i];
        bits = static_cast<std::uint16_t>(bits +
                                          (static_cast<std::uint16_t>(row / 100 % 4) << mantissa));
      }
  }
};

template <typename Bits>
std::int64_t differences(const HostTensor &a, const HostTensor &b, std::string &first) {
  std::int64_t count = 0;
  const TensorShape &shape = a.shape();
  for (std::int64_t row = 0; row < shape.rows; ++row)
    for (std::int64_t head = 0; head < shape.heads; ++head)
      for (std::int64_t i = 0; i < shape.dim; ++i) {
        const Bits mine = a.at<Bits>(row, head)[i], other = b.at<Bits>(row, head)[i];
        if (mine == other)
          continue;
        if (count++ == 0)
          first = fmt::format("row {} head {} element {}: {:#x}, emulated {:#x}", row, head, i,
                              mine, other);
      }
  return count;
}

TEST_P(Numerics, AreThoseOfTheEmulatedKernel) {
  RunRequest made =
      request(GetParam(), 1 + GetParam().dims + 7 * static_cast<int>(GetParam().masks));
  SCOPED_TRACE(commandLine(made));
  const auto plan = planAttention(withPadding(made.problem, made.padding), {.splits = made.splits});
  ASSERT_TRUE(plan) << plan.status().message();
  HostTensor q, k, v, out, lse;
  Descales descales;
  made.inputs = [&](HostTensor &qs, HostTensor &ks, HostTensor &vs, Descales &ds) {
    peak(plan->checked, ks);
    q = qs, k = ks, v = vs, descales = ds;
  };
  made.outputs = [&](const HostTensor &o, const HostTensor &l) { out = o, lse = l; };
  const auto report = runCase(made);
  ASSERT_TRUE(report) << report.status().message();
  ASSERT_TRUE(report->faults.empty()) << report->faults.front();

  const auto modelled = modelAttention(*plan, q, k, v, descales);
  ASSERT_TRUE(modelled) << modelled.status().message();
  ASSERT_GT(out.shape().rows, 0);
  std::string first;
  EXPECT_EQ(differences<std::uint16_t>(modelled->out, out, first), 0) << first;
  EXPECT_EQ(differences<std::uint32_t>(modelled->lse, lse, first), 0) << first;
}

class QuantizedNumerics : public ::testing::TestWithParam<std::string> {};

TEST_P(QuantizedNumerics, AreThoseOfTheEmulatedKernels) {
  using Scales = Quantization::Scales;
  int number = 0;
  for (const auto &[qk, v] : kDims)
    for (const Scales scales : {Scales::Given, Scales::Dynamic, Scales::Unit}) {
      const DType element = number % 2 ? DType::F16 : DType::BF16;
      const std::uint32_t rotation = ++number / 2 % 2 ? 9 : 0;
      RunRequest made;
      AttentionProblem &problem = made.problem;
      problem.target = GetParam();
      problem.dtype = DType::FP8;
      problem.headDimQk = qk;
      problem.headDimV = v;
      problem.heads = problem.kvHeads = 2;
      problem.lengths = {{33, 200 + 10 * number}};
      problem.sharedDescales = {.q = number % 3 == 0, .v = number % 2 == 0};
      made.quantization = Quantization{.scales = scales,
                                       .input = std::string(dtypeName(element)),
                                       .rotationQ = rotation,
                                       .rotationK = rotation};
      made.distribution = number % 2 ? Distribution::OutlierChannels : Distribution::HeavyTail;
      made.seed = static_cast<std::uint64_t>(number);
      made.splits = 1;
      SCOPED_TRACE(fmt::format("{} of {} {}x{} rotation {}", scalesName(scales), dtypeName(element),
                               qk, v, rotation));

      HostTensor q, k, val, out, lse;
      made.inputs = [&](HostTensor &qs, HostTensor &ks, HostTensor &vs, Descales &) {
        q = qs, k = ks, val = vs;
      };
      made.outputs = [&](const HostTensor &o, const HostTensor &l) { out = o, lse = l; };
      const auto report = runCase(made);
      ASSERT_TRUE(report) << report.status().message();
      ASSERT_TRUE(report->quantization);
      problem.f16Out = element == DType::F16;
      const auto plan = planQuantized(problem, *made.quantization, {.splits = 1});
      ASSERT_TRUE(plan) << plan.status().message();

      const Fp8Format format = plan->attention.checked.fp8;
      auto quantise = [&](const HostTensor &input, std::uint32_t seed, bool shared,
                          const std::vector<float> &given, std::vector<float> &descales,
                          int tensor) {
        descales = scales == Scales::Given ? given
                   : scales == Scales::Unit
                       ? std::vector{1.0f}
                       : modelDescales(modelMaxima(input, element, seed, shared), format);
        ModelledCodes made = modelCodes(input, element, seed, format, descales);
        EXPECT_EQ(made.saturated,
                  report->quantization->tensors[static_cast<std::size_t>(tensor)].saturated);
        return std::move(made.codes);
      };
      const SharedDescales &shared = problem.sharedDescales;
      Descales descales;
      const HostTensor qCodes = quantise(q, rotation, shared.q, report->descales.q, descales.q, 0);
      const HostTensor kCodes = quantise(k, rotation, shared.k, report->descales.k, descales.k, 1);
      const HostTensor vCodes = quantise(val, 0, shared.v, report->descales.v, descales.v, 2);
      const auto modelled = modelAttention(plan->attention, qCodes, kCodes, vCodes, descales);
      ASSERT_TRUE(modelled) << modelled.status().message();
      std::string first;
      EXPECT_EQ(differences<std::uint16_t>(modelled->out, out, first), 0) << first;
      EXPECT_EQ(differences<std::uint32_t>(modelled->lse, lse, first), 0) << first;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, QuantizedNumerics, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

TEST(NumericsModel, RefuseWhatTheyDoNotModel) {
  AttentionProblem problem;
  problem.lengths = {{1, 10}};
  auto refusal = [](AttentionProblem problem, int splits = 1) -> std::string {
    const auto plan = planAttention(problem, {.splits = splits});
    if (!plan)
      return std::string(plan.status().message());
    const HostTensor none;
    return std::string(modelAttention(*plan, none, none, none).status().message());
  };
  AttentionProblem capped = problem, sunk = problem, cut = problem;
  capped.softCap = 30;
  sunk.sink = true;
  cut.lengths = {{1, 1000}};
  EXPECT_NE(refusal(capped).find("soft cap"), std::string::npos);
  EXPECT_NE(refusal(sunk).find("sink"), std::string::npos);
  EXPECT_NE(refusal(cut, 2).find("splits=1"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Numerics, ::testing::ValuesIn(allCases()), nameOf);

} // namespace
} // namespace wavesmith::testing
