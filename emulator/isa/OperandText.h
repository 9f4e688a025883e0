#pragma once
// Operands in LLVM's spelling. Pure functions of decoded operands.

#include <string>

#include "emulator/isa/Inst.h"

namespace wavesmith::emulator {

std::string operandText(const Operand &operand);
/// With the float modifiers of source `index`: -|v1|.
std::string modifiedText(const Inst &inst, int index);
std::string hardwareRegisterText(unsigned immediate);
std::string dppText(unsigned control);

} // namespace wavesmith::emulator
