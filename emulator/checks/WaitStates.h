#pragma once
// Wait states between neighbouring instructions that the hardware does not insert: which
// instructions take part, decided once at decode.

#include "emulator/isa/Inst.h"

namespace wavesmith::emulator {

/// Sets the produces, consumes and hazardWindow fields.
void markHazards(Inst &inst);

} // namespace wavesmith::emulator
