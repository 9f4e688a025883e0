// Opens a copy's namespace and pulls in the helpers. WAVESMITH_LANES is the copy's name, set by the
// build: every symbol of these sources must live inside, or the linker could pick an AVX-512 body
// for a host without it.
#include "emulator/lanes/LaneSet.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace wavesmith::emulator::WAVESMITH_LANES {
namespace {
// Driver.h uses the helpers, so it comes last.
#include "emulator/lanes/Float.h"
#include "emulator/lanes/Helpers.h"
#include "emulator/lanes/SmallFloat.h"

#include "emulator/lanes/Driver.h"
} // namespace
} // namespace wavesmith::emulator::WAVESMITH_LANES
