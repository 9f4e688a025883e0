#pragma once
// Which modifier bits an instruction's encoding has; all others are reserved and must be zero, or
// the words are no instruction. Pure functions; any thread.

#include "emulator/isa/Inst.h"

namespace wavesmith::emulator {

/// Derived from the row's signature, with the exceptions by name.
VectorFields vectorFieldsOf(const Row &row);

/// Are the bits clear that this decoded instruction's encoding reserves?
bool reservedBitsClear(const Inst &inst);

} // namespace wavesmith::emulator
