// Picks the copy of the lane sources that this host can run.

#include "emulator/lanes/LaneSet.h"

namespace wavesmith::emulator {

namespace baseline {
extern const LaneSet kLaneSet;
}
#if defined(__x86_64__)
namespace avx2 {
extern const LaneSet kLaneSet;
}
namespace avx512 {
extern const LaneSet kLaneSet;
}
#endif

const LaneSet &laneSet() {
#if defined(__x86_64__)
  static const LaneSet &chosen =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
          ? avx512::kLaneSet
          : (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::kLaneSet
                                                                             : baseline::kLaneSet);
  return chosen;
#else
  return baseline::kLaneSet;
#endif
}

} // namespace wavesmith::emulator
