#pragma once
// What the files of LDS operations share: addresses of an access in flight. Lane arithmetic only.

#include "emulator/machine/MemoryAccess.h"

namespace wavesmith::emulator {

/// A lane's address. The sum wraps at 32 bits: compilers fold constants into the offset although
/// the base may then be negative.
inline u64 ldsAddress(const PendingOp &op, int lane, u32 offset) {
  return static_cast<u32>(op.address[lane]) + offset;
}

/// Lane addresses of element 0 or 1 of an access.
inline u32 elementOffset(const Inst &inst, int element) {
  const Access &access = inst.row->access;
  if (access.count == 1)
    return static_cast<u32>(inst.immediate);
  return (element ? inst.offset1 : static_cast<u32>(inst.immediate)) * access.stride;
}

/// Landing of atomics, exchanges and counters (LdsAtomics.cpp).
void landLdsAtomic(Machine &machine, Wave &wave, PendingOp &op);

} // namespace wavesmith::emulator
