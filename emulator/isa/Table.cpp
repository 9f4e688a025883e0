#include "emulator/isa/Table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "emulator/isa/Reserved.h"

namespace wavesmith::emulator {
namespace {

std::vector<FormatInfo> makeFormats() {
  std::vector<FormatInfo> all = {
      {Format::Sop2, 0xc0000000, 0x80000000, 23, 7, 4, "SOP2"},
      {Format::Sopk, 0xf0000000, 0xb0000000, 23, 5, 4, "SOPK"},
      {Format::Sop1, 0xff800000, 0xbe800000, 8, 8, 4, "SOP1"},
      {Format::Sopc, 0xff800000, 0xbf000000, 16, 7, 4, "SOPC"},
      {Format::Sopp, 0xff800000, 0xbf800000, 16, 7, 4, "SOPP"},
      {Format::Smem, 0xfc000000, 0xc0000000, 18, 8, 8, "SMEM"},
      {Format::Vop2, 0x80000000, 0x00000000, 25, 6, 4, "VOP2"},
      {Format::Vop1, 0xfe000000, 0x7e000000, 9, 8, 4, "VOP1"},
      {Format::Vopc, 0xfe000000, 0x7c000000, 17, 8, 4, "VOPC"},
      {Format::Vop3, 0xfc000000, 0xd0000000, 16, 10, 8, "VOP3"},
      {Format::Vop3p, 0xff800000, 0xd3800000, 16, 7, 8, "VOP3P"},
      {Format::Ds, 0xfc000000, 0xd8000000, 17, 8, 8, "DS"},
      {Format::Flat, 0xfc00c000, 0xdc000000, 18, 7, 8, "FLAT"},
      {Format::Scratch, 0xfc00c000, 0xdc004000, 18, 7, 8, "SCRATCH"},
      {Format::Global, 0xfc00c000, 0xdc008000, 18, 7, 8, "GLOBAL"},
      {Format::Mubuf, 0xfc000000, 0xe0000000, 18, 7, 8, "MUBUF"},
      {Format::Mtbuf, 0xfc000000, 0xe8000000, 15, 4, 8, "MTBUF"},
  };
  std::sort(all.begin(), all.end(), [](const FormatInfo &a, const FormatInfo &b) {
    return std::popcount(a.mask) > std::popcount(b.mask);
  });
  return all;
}

struct Index {
  std::vector<Row> rows;
  /// [target][format][opcode]
  std::array<std::array<std::vector<const Row *>, kFormats>, 2> byOpcode;

  Index() {
    for (std::span<const Row> part : {scalarRows(), vectorRows(), memoryRows()})
      rows.insert(rows.end(), part.begin(), part.end());
    for (Row &row : rows)
      row.fields = vectorFieldsOf(row);
    for (int target = 0; target < 2; ++target)
      for (const FormatInfo &info : formats())
        byOpcode[target][static_cast<int>(info.format)].resize(std::size_t{1} << info.opcodeBits);
    for (const Row &row : rows)
      for (int target = 0; target < 2; ++target)
        if (row.targets & (target ? kGfx950 : kGfx942))
          byOpcode[target][static_cast<int>(row.format)][row.opcode] = &row;
  }
};
const Index &index() {
  static const Index built;
  return built;
}

} // namespace

std::span<const FormatInfo> formats() {
  static const std::vector<FormatInfo> sorted = makeFormats();
  return sorted;
}

const FormatInfo *formatOf(u32 word) {
  for (const FormatInfo &info : formats())
    if ((word & info.mask) == info.value)
      return &info;
  return nullptr;
}

std::span<const Row> allRows() { return index().rows; }

const Row *findRow(Format format, u32 opcode, bool gfx950) {
  const auto &rows = index().byOpcode[gfx950][static_cast<int>(format)];
  return opcode < rows.size() ? rows[opcode] : nullptr;
}

const Row *findLongRow(u32 opcode, bool gfx950) {
  if (opcode < 0x100)
    return findRow(Format::Vopc, opcode, gfx950);
  if (opcode < 0x140) {
    const Row *row = findRow(Format::Vop2, opcode - 0x100, gfx950);
    return row && row->use == Use::Literal ? nullptr : row;
  }
  if (opcode < 0x1c0)
    return findRow(Format::Vop1, opcode - 0x140, gfx950);
  return findRow(Format::Vop3, opcode, gfx950);
}

} // namespace wavesmith::emulator
