#pragma once
// Runs a grid: checks the request, prepares the argument block and the dispatch packet, and spreads
// the workgroups over host threads. Reports are merged in workgroup order, so they do not depend on
// the number of threads.

#include "emulator/Emulator.h"
#include "emulator/Memory.h"
#include "emulator/Module.h"

namespace wavesmith::emulator {

Expected<RunReport> launchGrid(Module &module, Memory &memory, bool gfx950,
                               const LaunchConfig &config, const RunOptions &options);

} // namespace wavesmith::emulator
