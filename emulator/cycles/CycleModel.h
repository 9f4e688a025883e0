#pragma once
// From the traces of a launch to its modelled time: each sampled workgroup is replayed on a compute
// unit with its neighbours, the others take their time from their size, and all are placed over
// XCDs and compute units. Pure functions but for the trace file,
// which one launch writes at a time; any thread.

#include "emulator/cycles/CycleReport.h"
#include "emulator/cycles/Trace.h"
#include "emulator/cycles/TraceFile.h"

namespace wavesmith::emulator::cycles {

/// What a workgroup occupies.
struct Footprint {
  int waves = 1;
  int vectorRegisters = 0; ///< VGPRs and AGPRs of a wave
  int scalarRegisters = 0;
  int ldsBytes = 0;
};

/// Workgroups that fit on one compute unit, at least 1.
int workgroupsPerCu(const Footprint &footprint, const Architecture &architecture);

/// `file` may be null; else it gets the replays and the grid.
CycleReport modelLaunch(const TraceSampler &sampler, const Chip &chip, const Footprint &footprint,
                        TraceFile *file = nullptr);

} // namespace wavesmith::emulator::cycles
