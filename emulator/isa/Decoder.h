#pragma once
// Words to Inst. Pure; used by the program builder and by the disassembler.

#include <span>

#include "emulator/isa/Inst.h"

namespace wavesmith::emulator {

struct DecodeContext {
  bool gfx950 = false;
  int accumOffset = 0; ///< where AGPRs begin in the register file
  // VGPR indexing (CDNA3 ISA 6.6): what M0 adds, and to which operands.
  u8 index = 0, indexMask = 0; ///< mask: sources 0 to 2, destination
  int vgprs = 0;               ///< beyond them nothing can be reached
};

/// Decodes the instruction at words[0]; false leaves `inst` with only pc, words and size set.
bool decodeInst(std::span<const u32> words, u64 pc, const DecodeContext &context, Inst &inst);

} // namespace wavesmith::emulator
