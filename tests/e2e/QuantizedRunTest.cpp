// FP8 calls whose 16-bit inputs are quantised on the device: right against float64 on the codes,
// close to float64 on the inputs, and closer where a rotation is for.

#include <gtest/gtest.h>

#include "tests/e2e/AttentionCase.h"

namespace wavesmith::testing {
namespace {

using Scales = Quantization::Scales;

struct Dims {
  int qk, v;
};
constexpr Dims kDims[] = {{192, 128}, {128, 128}, {64, 64}};

RunRequest quantised(const std::string &target, const Dims &dims, Scales scales,
                     std::uint32_t rotation) {
  RunRequest request;
  request.problem.target = target;
  request.problem.dtype = DType::FP8;
  request.problem.headDimQk = dims.qk;
  request.problem.headDimV = dims.v;
  request.problem.heads = 2;
  request.problem.lengths = {{40, 700}};
  request.quantization =
      Quantization{.scales = scales, .rotationQ = rotation, .rotationK = rotation};
  return request;
}

class QuantizedRuns : public ::testing::TestWithParam<std::string> {};

TEST_P(QuantizedRuns, AreRightOnCodesAndCloseOnInputs) {
  int number = 0;
  for (const Dims &dims : kDims)
    for (const Scales scales : {Scales::Given, Scales::Dynamic, Scales::Unit}) {
      const std::uint32_t rotation = number % 2 ? 9 : 0;
      RunRequest request = quantised(GetParam(), dims, scales, rotation);
      request.problem.causal = number % 3 == 1;
      request.problem.heads = number % 2 ? 4 : 2;
      request.problem.kvHeads = 2;
      request.problem.lengths = {{17, 130}, {0, 5}, {3, 0}, {65, 300}};
      request.problem.sharedDescales = {.q = number % 2 == 1, .v = number % 3 == 2};
      request.padding = 8 * (number % 4);
      request.splits = number % 3;
      request.seed = static_cast<std::uint64_t>(number) + 1;
      const auto report = runCase(request);
      ASSERT_TRUE(report) << report.status().message();
      const std::string which =
          fmt::format("{}x{} {} rotation {}", dims.qk, dims.v, scalesName(scales), rotation);
      EXPECT_TRUE(report->ok()) << which << "\n" << complaints(report);
      ASSERT_TRUE(report->quantization && report->quantization->errors);
      EXPECT_EQ(report->quantization->rotation, rotation);
      // Quantisation alone costs 0.05 (docs/accuracy.md); short rows twice that.
      EXPECT_LT(report->quantization->errors->outRelRms, 0.1) << which;
      EXPECT_GT(report->quantization->errors->outRelRms, 0.01) << which;
      for (const QuantizationReport::Tensor &tensor : report->quantization->tensors) {
        EXPECT_LT(tensor.relRms.value_or(1), 0.03) << which;
        for (const std::uint64_t count : tensor.saturated)
          EXPECT_LE(count, 1u) << "only the largest itself, by the rounding of its division";
      }
      ++number;
    }
}

TEST_P(QuantizedRuns, CountSaturatedElementsOfEachHead) {
  RunRequest request = quantised(GetParam(), kDims[0], Scales::Unit, 0);
  // Beyond the largest code of both formats.
  request.inputs = [](HostTensor &, HostTensor &k, HostTensor &v, Descales &) {
    for (std::int64_t row = 0; row < 5; ++row)
      k.at<std::uint16_t>(row, 1)[row] = 0x4400; // 512
    v.at<std::uint16_t>(3, 0)[7] = 0xc400;
  };
  request.problem.lengths = {{4, 300}};
  const auto report = runCase(request);
  ASSERT_TRUE(report) << report.status().message();
  ASSERT_TRUE(report->quantization);
  const auto &tensors = report->quantization->tensors;
  EXPECT_EQ(tensors[0].saturated, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(tensors[1].saturated, (std::vector<std::uint64_t>{0, 5}));
  EXPECT_EQ(tensors[2].saturated, (std::vector<std::uint64_t>{1, 0}));
}

TEST_P(QuantizedRuns, RotationSavesOutlierChannels) {
  double errors[2] = {};
  for (const std::uint32_t rotation : {0u, 9u}) {
    RunRequest request = quantised(GetParam(), kDims[0], Scales::Dynamic, rotation);
    request.problem.lengths = {{16, 1024}};
    request.distribution = Distribution::OutlierChannels;
    const auto report = runCase(request);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->ok()) << complaints(report);
    errors[rotation != 0] = report->quantization->errors->outRelRms;
  }
  EXPECT_LT(errors[1], 0.1);
  EXPECT_GT(errors[0], 2 * errors[1]);
}

TEST_P(QuantizedRuns, F16InputsGiveF16) {
  for (const Scales scales : {Scales::Given, Scales::Dynamic, Scales::Unit}) {
    RunRequest request = quantised(GetParam(), kDims[0], scales, 9);
    request.quantization->input = "f16";
    request.problem.lengths = {{17, 130}, {3, 0}, {65, 900}};
    request.splits = 2;
    const auto report = runCase(request);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_TRUE(report->ok()) << scalesName(scales) << "\n" << complaints(report);
    ASSERT_TRUE(report->quantization && report->quantization->errors);
    EXPECT_LT(report->quantization->errors->outRelRms, 0.1);
    EXPECT_GT(report->quantization->errors->outRelRms, 0.01);
    bool f16Out = false;
    for (const RunKernel &kernel : report->kernels)
      f16Out |= kernel.attention && kernel.info.name.find("_f16out") != std::string::npos;
    EXPECT_TRUE(f16Out);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, QuantizedRuns, ::testing::ValuesIn(targetNames()),
                         [](const auto &info) { return info.param; });

TEST(QuantizedRun, RefusesWhatItWouldNotDo) {
  RunRequest request = quantised("gfx942", kDims[0], Scales::Dynamic, 0);
  request.quantization->rotationK = 4;
  EXPECT_NE(runCase(request).status().message().find("the same seed"), std::string::npos);
  request = quantised("gfx942", kDims[0], Scales::Dynamic, 0);
  request.quantization->input = "f32";
  EXPECT_EQ(runCase(request).status().message(), "a run quantises bf16 or f16 inputs, not f32");
  request = quantised("gfx942", kDims[0], Scales::Dynamic, 0);
  request.quantization.reset();
  request.distribution = Distribution::Needle;
  EXPECT_EQ(runCase(request).status().message(),
            "needle inputs are made in 16 bits; fp8 takes them only when it quantises them");
}

} // namespace
} // namespace wavesmith::testing
