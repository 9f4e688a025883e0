#include "bench/accuracy/Cases.h"

#include <cmath>

#include "runtime/verify/BFloat16.h"

namespace wavesmith::bench {
namespace {

constexpr std::int64_t kCalibrationTokens = 2048;
constexpr std::uint64_t kCalibrationSeed = 1u << 20, kCalibrationPrompts = 4;

void scaleHeads(HostTensor &tensor, int direction) {
  for (std::int64_t row = 0; row < tensor.shape().rows; ++row)
    for (std::int64_t head = 0; head < tensor.shape().heads; ++head) {
      const double factor = std::exp2(direction * (2 * static_cast<int>(head) - 3));
      auto *bits = tensor.at<std::uint16_t>(row, head);
      for (std::int64_t i = 0; i < tensor.shape().dim; ++i)
        bits[i] = doubleToBf16(factor * bf16ToFloat(bits[i]));
    }
}

} // namespace

Expected<Inputs> drawInputs(const Case &drawn, std::uint64_t seed) {
  Inputs inputs;
  AttentionProblem &problem = inputs.problem;
  problem.target = drawn.target;
  problem.headDimQk = drawn.headDimQk;
  problem.headDimV = drawn.headDimV;
  problem.causal = true;
  problem.heads = drawn.heads;
  problem.lengths = {{.q = drawn.rows, .kv = drawn.keys}};
  WAVESMITH_ASSIGN(const CheckedProblem checked, checkProblem(problem));
  inputs.q = HostTensor(checked.q, std::byte{0xff});
  inputs.k = HostTensor(checked.k, std::byte{0xff});
  inputs.v = HostTensor(checked.v, std::byte{0xff});
  inputs.q.fillNormal(DType::BF16, seed, 0);
  inputs.k.fillNormal(DType::BF16, seed, 1);
  inputs.v.fillNormal(DType::BF16, seed, 2);
  applyDistribution(drawn.distribution, checked, seed, inputs.q, inputs.k, inputs.v, drawn.options);
  scaleHeads(inputs.q, -1);
  scaleHeads(inputs.k, 1);
  scaleHeads(inputs.v, 1);
  return inputs;
}

Expected<Calibration> calibrate(Case drawn) {
  drawn.rows = drawn.keys = kCalibrationTokens;
  Calibration calibration;
  for (std::uint64_t prompt = 0; prompt < kCalibrationPrompts; ++prompt) {
    WAVESMITH_ASSIGN(const Inputs inputs, drawInputs(drawn, kCalibrationSeed + prompt));
    include(calibration.plain, maximaOf(inputs.q, inputs.k, inputs.v, false));
    include(calibration.rotated, maximaOf(inputs.q, inputs.k, inputs.v, true));
  }
  return calibration;
}

} // namespace wavesmith::bench
