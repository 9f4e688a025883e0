#include "runtime/numerics/KernelNumerics.h"

#include <cmath>
#include <numbers>
#include <string_view>

namespace wavesmith {
namespace {

/// A wave's lanes are two halves, which hold one operand of a matrix instruction together: the
/// lower half's items come first in its sum.
constexpr int kHalves = 2;

/// Rows are read in pairs of 16-byte chunks, one for each half; an operand takes `bytes` of each.
std::vector<int> elementOrder(int bytes, int elementBytes) {
  const int chunk = 16 / elementBytes, items = bytes / elementBytes;
  std::vector<int> order;
  for (int first = 0; first < chunk; first += items)
    for (int half = 0; half < kHalves; ++half)
      for (int item = 0; item < items; ++item)
        order.push_back(half * chunk + first + item);
  return order;
}

/// Item i of a half is the weight of key 8 * (i / 4) + 4 * half + i % 4: that is how 32x32 results
/// lie in registers, and weights are multiplied where they were made.
std::vector<int> keyOrder(int bytes, int elementBytes) {
  std::vector<int> order;
  for (int half = 0; half < kHalves; ++half)
    for (int item = 0; item < bytes / elementBytes; ++item)
      order.push_back(8 * (item / 4) + 4 * half + item % 4);
  return order;
}

struct Row {
  std::string_view target;
  DType dtype;
  int headDimQk; ///< 0: every other
  int tileKeys;
  WeightRounding rounding;
  float exponent, threshold;
  bool sumsRounded;
};
using enum WeightRounding;
constexpr Row kRows[] = {
    {"gfx942", DType::BF16, 256, 32, Bf16Away, 0, 8, false},
    {"gfx942", DType::BF16, 0, 32, Bf16Truncated, 0, 8, false},
    {"gfx942", DType::F16, 0, 32, F16Truncated, 7, 8, false},
    {"gfx942", DType::FP8, 192, 64, Fp8Fnuz, 4, 3.9f, false},
    {"gfx942", DType::FP8, 256, 64, Fp8Fnuz, 4, 3.9f, false},
    {"gfx942", DType::FP8, 0, 64, Fp8Fnuz, 4, 3.9f, true},
    {"gfx950", DType::BF16, 256, 32, Bf16Even, 0, 8, false},
    {"gfx950", DType::BF16, 0, 64, Bf16Even, 0, 8, false},
    {"gfx950", DType::F16, 256, 32, F16Even, 7, 8, false},
    {"gfx950", DType::F16, 0, 64, F16Even, 7, 8, false},
    {"gfx950", DType::FP8, 256, 64, Fp8Ocp, 4, 4.8f, false},
    {"gfx950", DType::FP8, 0, 128, Fp8Ocp, 4, 4.8f, true},
};

/// Truncation takes 2^-9 / ln 2 of a bf16 weight on average, 2^-12 / ln 2 of an f16 one.
double gainOf(WeightRounding rounding) {
  if (rounding == Bf16Truncated)
    return 1 / (1 - 0x1p-9 / std::numbers::ln2);
  return rounding == F16Truncated ? 1 / (1 - 0x1p-12 / std::numbers::ln2) : 1;
}

} // namespace

Expected<KernelNumerics> kernelNumerics(const KernelSpec &spec) {
  const AttentionSpec &attention = spec.attention;
  if (spec.isRowKernel())
    return error(StatusCode::Unsupported, "{}: want an attention kernel", spec.text());
  if (!spec.schedule.empty())
    return error(StatusCode::Unsupported, "schedule \"{}\" has no model; want the default",
                 spec.schedule);
  if (attention.softCap || attention.sink)
    return error(StatusCode::Unsupported, "a {} has no model",
                 attention.softCap ? "soft cap" : "sink");
  for (const Row &row : kRows) {
    if (row.target != spec.target || row.dtype != attention.dtype ||
        (row.headDimQk != 0 && row.headDimQk != attention.headDimQk))
      continue;
    const bool newer = row.target == "gfx950";
    const double gain = gainOf(row.rounding);
    // gfx950's FP8 operands are 32 bytes, of which the matrix core takes each 16 like an operand.
    const int operandBytes = newer ? 16 : 8, elementBytes = bytesOf(row.dtype);
    return KernelNumerics{.tileKeys = row.tileKeys,
                          .elementOrder = elementOrder(operandBytes, elementBytes),
                          .keyOrder = keyOrder(operandBytes, elementBytes),
                          .exponent = static_cast<float>(row.exponent + std::log2(gain)),
                          .gain = static_cast<float>(gain),
                          .threshold = row.threshold,
                          .sumsRounded = row.sumsRounded,
                          .rounding = row.rounding};
  }
  return error(StatusCode::Unsupported, "{} {} has no model; want gfx942 or gfx950", spec.target,
               dtypeName(attention.dtype));
}

} // namespace wavesmith
