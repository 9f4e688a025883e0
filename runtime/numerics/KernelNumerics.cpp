#include "runtime/numerics/KernelNumerics.h"

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
  float exponent, threshold;
  bool sumsRounded;
};
constexpr Row kRows[] = {
    {"gfx942", DType::BF16, 0, 32, 0, 8, false},
    {"gfx942", DType::F16, 0, 32, 7, 8, false},
    {"gfx942", DType::FP8, 192, 64, 4, 3.9f, false},
    {"gfx942", DType::FP8, 256, 64, 4, 3.9f, false},
    {"gfx942", DType::FP8, 0, 64, 4, 3.9f, true},
    {"gfx950", DType::BF16, 256, 32, 0, 8, false},
    {"gfx950", DType::BF16, 0, 64, 0, 8, false},
    {"gfx950", DType::F16, 256, 32, 7, 8, false},
    {"gfx950", DType::F16, 0, 64, 7, 8, false},
    {"gfx950", DType::FP8, 256, 64, 4, 4.8f, false},
    {"gfx950", DType::FP8, 0, 128, 4, 4.8f, true},
};

WeightRounding roundingOf(DType dtype, bool newer) {
  switch (dtype) {
  case DType::BF16:
    return newer ? WeightRounding::Bf16Even : WeightRounding::Bf16Away;
  case DType::F16:
    return WeightRounding::F16Even;
  case DType::FP8:
    return newer ? WeightRounding::Fp8Ocp : WeightRounding::Fp8Fnuz;
  }
  __builtin_unreachable();
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
    // gfx950's FP8 operands are 32 bytes, of which the matrix core takes each 16 like an operand.
    const int operandBytes = newer ? 16 : 8, elementBytes = bytesOf(row.dtype);
    return KernelNumerics{.tileKeys = row.tileKeys,
                          .elementOrder = elementOrder(operandBytes, elementBytes),
                          .keyOrder = keyOrder(operandBytes, elementBytes),
                          .exponent = row.exponent,
                          .threshold = row.threshold,
                          .sumsRounded = row.sumsRounded,
                          .rounding = roundingOf(row.dtype, newer)};
  }
  return error(StatusCode::Unsupported, "{} {} has no model; want gfx942 or gfx950", spec.target,
               dtypeName(attention.dtype));
}

} // namespace wavesmith
