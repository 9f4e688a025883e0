#pragma once
// The instruction table: rows by format and opcode for each target, formats ordered so that the one
// with more fixed bits is tried first. Built at first use from the row files; immutable.

#include <span>
#include <string_view>

#include "emulator/isa/Row.h"
#include "emulator/lanes/LaneSet.h"

namespace wavesmith::emulator {

struct FormatInfo {
  Format format;
  u32 mask, value; ///< fixed bits of the first word
  u8 opcodeShift, opcodeBits;
  u8 bytes;
  const char *name;
};

/// Most fixed bits first.
std::span<const FormatInfo> formats();
const FormatInfo *formatOf(u32 word);

std::span<const Row> allRows();
/// Null when the target has no such instruction.
const Row *findRow(Format format, u32 opcode, bool gfx950);
/// The VOP3 form of a short row is that row: opcode 0x100+VOP2, 0x140+VOP1, VOPC unchanged.
const Row *findLongRow(u32 opcode, bool gfx950);

struct MatrixRow {
  MatrixShape shape;
  u8 passes;
};
const MatrixRow &matrixRow(const Row &row);

// Where the pieces come from.
std::span<const Row> scalarRows();
std::span<const Row> vectorRows();
std::span<const Row> memoryRows();

} // namespace wavesmith::emulator
