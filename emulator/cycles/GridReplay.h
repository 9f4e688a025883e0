#pragma once
// The whole grid replayed, every workgroup beside its real neighbours: what the composition from
// samples (CycleModel) is compared with, and exact for the model's rules. For small grids. Pure
// functions but for the trace file, which one launch writes at a time; any thread.

#include <vector>

#include "emulator/cycles/ComputeUnit.h"
#include "emulator/cycles/Placement.h"

namespace wavesmith::emulator::cycles {

struct GridReport {
  std::vector<UnitReport> units; ///< one per compute unit that had work
  Placement placement;
};

/// Needs the traces of all workgroups. `file` may be null; else it gets the first compute unit.
GridReport replayGrid(const TraceSampler &sampler, const Chip &chip, int residents,
                      const LineSharing &sharing, TraceFile *file);

} // namespace wavesmith::emulator::cycles
