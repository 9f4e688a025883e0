#pragma once
// Bank conflicts: the clocks that an LDS instruction keeps the banks busy. Pure functions.

#include "emulator/isa/Inst.h"

namespace wavesmith::emulator::cycles {

/// An LDS instruction is served in phases of lanes; a phase takes as many clocks as the busiest
/// bank has distinct dwords. `address`: bytes per lane; atomics serve equal addresses in turn.
int bankClocks(const Inst &inst, const u64 *address, u64 lanes, int banks);

} // namespace wavesmith::emulator::cycles
