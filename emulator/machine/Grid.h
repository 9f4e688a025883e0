#pragma once
// Runs the workgroups of a launch. Those that cannot tell each other anything run side by side on
// the host's threads; those that can take turns on one, so that a run repeats bit for bit and a
// workgroup may wait for one that comes later. Reports come in workgroup order.

#include <map>

#include "emulator/checks/GlobalRaces.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {

struct GridResult {
  std::map<u64, std::vector<Fault>> faults, warnings; ///< by workgroup
  std::array<u64, kCheckKinds> counts{};
  u64 instructions = 0;
  std::vector<u64> coverage;
};

GridResult runGrid(const Launch &launch, u64 groups);

} // namespace wavesmith::emulator
