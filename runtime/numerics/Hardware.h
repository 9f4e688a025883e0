#pragma once
// The vector ALU's float32 as the emulator computes it: exp2, log2 and reciprocal within a unit in
// the last place of the true value. The emulator's own source, so that the model's bits are its.
// Include it only where -ffp-contract=off holds. Pure.

#include "emulator/isa/Types.h"

namespace wavesmith::hardware {

using namespace wavesmith::emulator;
#include "emulator/lanes/Float.h"

} // namespace wavesmith::hardware
