// Compiled with -ffp-contract=fast: multiply-adds are fused where the host can.
#include "runtime/numerics/TileArithmetic.h"
#include "runtime/verify/BlockedProduct.h"

namespace wavesmith::numerics {
namespace {

void productPlain(const float *a, std::int64_t aStride, const float *b, std::int64_t depth,
                  float *c, std::int64_t rows, std::int64_t columns) {
  multiplyPanels<float, 16, 4>(a, aStride, b, depth, c, rows, columns);
}

// Chosen by hand and not by target_clones, whose resolvers run before sanitizers are up.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void productAvx2(const float *a, std::int64_t aStride,
                                                     const float *b, std::int64_t depth, float *c,
                                                     std::int64_t rows, std::int64_t columns) {
  multiplyPanels<float, 32, 6>(a, aStride, b, depth, c, rows, columns);
}
__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))) void
productAvx512(const float *a, std::int64_t aStride, const float *b, std::int64_t depth, float *c,
              std::int64_t rows, std::int64_t columns) {
  multiplyPanels<float, 64, 12>(a, aStride, b, depth, c, rows, columns);
}
#endif

} // namespace

ProductFunction productFunction() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return productAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return productAvx2;
#endif
  return productPlain;
}

} // namespace wavesmith::numerics
