// Compiled with -ffp-contract=off: what is fused says so.
#include <algorithm>
#include <array>

#include "runtime/numerics/Rounding.h"
#include "runtime/numerics/TileArithmetic.h"

namespace wavesmith::numerics {
namespace {

/// Of a number that is not negative and whose result is finite.
WAVESMITH_INLINE float roundWeight(float weight, WeightRounding rounding) {
  switch (rounding) {
  case WeightRounding::Bf16Truncated:
    return hardware::floatOf(hardware::bitsOf(weight) & 0xffff0000);
  case WeightRounding::Bf16Away:
    return hardware::floatOf((hardware::bitsOf(weight) + 0x8000) & 0xffff0000);
  case WeightRounding::Bf16Even:
    return roundedOff(weight, 16);
  case WeightRounding::F16Truncated:
    return weight < 0x1p-14f
               ? static_cast<float>(static_cast<std::int32_t>(weight * 0x1p24f)) * 0x1p-24f
               : hardware::floatOf(hardware::bitsOf(weight) & ~0x1fffu);
  case WeightRounding::F16Even:
    return roundedToSmall(weight, 10, 0x1p-14f);
  case WeightRounding::Fp8Fnuz:
    return roundedToFp8(weight, 0x1p-7f);
  case WeightRounding::Fp8Ocp:
    return roundedToFp8(weight, 0x1p-6f);
  }
  __builtin_unreachable();
}

WAVESMITH_INLINE float maximumOf(const float *scores, std::int64_t count) {
  constexpr std::int64_t lanes = 16;
  std::array<float, lanes> largest;
  std::copy_n(scores, lanes, largest.begin());
  for (std::int64_t i = lanes; i < count; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      largest[static_cast<std::size_t>(lane)] =
          std::max(largest[static_cast<std::size_t>(lane)], scores[i + lane]);
  return *std::ranges::max_element(largest);
}

WAVESMITH_INLINE void weightsOf(const float *scores, std::int64_t count, float scale, float bias,
                                WeightRounding rounding, float *weights, float *rounded) {
  for (std::int64_t i = 0; i < count; ++i)
    weights[i] = hardware::exp2Approx(__builtin_fmaf(scores[i], scale, bias));
  auto round = [&](WeightRounding how) __attribute__((always_inline)) {
    for (std::int64_t i = 0; i < count; ++i)
      rounded[i] = roundWeight(weights[i], how);
  };
  switch (rounding) { // a loop for each, or none would vectorise
  case WeightRounding::Bf16Truncated:
    return round(WeightRounding::Bf16Truncated);
  case WeightRounding::Bf16Away:
    return round(WeightRounding::Bf16Away);
  case WeightRounding::Bf16Even:
    return round(WeightRounding::Bf16Even);
  case WeightRounding::F16Truncated:
    return round(WeightRounding::F16Truncated);
  case WeightRounding::F16Even:
    return round(WeightRounding::F16Even);
  case WeightRounding::Fp8Fnuz:
    return round(WeightRounding::Fp8Fnuz);
  case WeightRounding::Fp8Ocp:
    return round(WeightRounding::Fp8Ocp);
  }
}

// One pair of functions for each instruction set, as in Products.cpp.
#define WAVESMITH_SOFTMAX(name, attributes)                                                        \
  attributes float maximum##name(const float *scores, std::int64_t count) {                        \
    return maximumOf(scores, count);                                                               \
  }                                                                                                \
  attributes void weights##name(const float *scores, std::int64_t count, float scale, float bias,  \
                                WeightRounding rounding, float *weights, float *rounded) {         \
    weightsOf(scores, count, scale, bias, rounding, weights, rounded);                             \
  }
WAVESMITH_SOFTMAX(Plain, )
#if defined(__x86_64__)
WAVESMITH_SOFTMAX(Avx2, __attribute__((target("avx2,fma"))))
WAVESMITH_SOFTMAX(Avx512, __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))))
#endif

} // namespace

SoftmaxFunctions softmaxFunctions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return {maximumAvx512, weightsAvx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {maximumAvx2, weightsAvx2};
#endif
  return {maximumPlain, weightsPlain};
}

} // namespace wavesmith::numerics
