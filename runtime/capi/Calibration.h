#pragma once
// What a caller says of a calibration, as runtime/scales has it.

#include <cstdint>
#include <string>
#include <vector>

#include "include/wavesmith/wavesmith.h"
#include "runtime/scales/Calibration.h"

namespace wavesmith::capi {

struct Rank {
  CalibrationRun run;
  int tp = 0, pp = 0;
};

/// Copies the caller's struct; the scales are for `format`. Checks the rank only: which fields may
/// be left out is for validateRun() or loadScales() to say.
Expected<Rank> readCalibration(const wavesmith_calibration *given, Fp8Format format);
/// The layers of a rank: numbers in the model, rising, and the engine's names for them.
struct RankLayer {
  int index = 0;
  std::string name; ///< may be empty where names may be left out
};
Expected<std::vector<RankLayer>> readLayers(const std::int32_t *layers, const char *const *names,
                                            std::uint64_t count, bool needsNames);

} // namespace wavesmith::capi
