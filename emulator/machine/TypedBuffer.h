#pragma once
// Buffer access with a format: what an instruction converts, and its landings.

#include "emulator/machine/MemoryAccess.h"

namespace wavesmith::emulator {

/// From the instruction, or from the descriptor's last word.
TypedAccess typedAccess(const Inst &inst, u32 descriptor);
/// Bits of register `word` that a typed store takes.
u32 typedStoreBits(const Inst &inst, const TypedAccess &typed, int word);

void landTypedLoad(Machine &machine, Wave &wave, PendingOp &op);
void landTypedStore(Machine &machine, Wave &wave, PendingOp &op);

} // namespace wavesmith::emulator
