// The instruction table itself: no two rows at one place, formats in the right order.

#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "emulator/isa/Table.h"

namespace wavesmith::emulator {
namespace {

TEST(Table, HasNoDuplicateRows) {
  for (u8 target : {kGfx942, kGfx950}) {
    std::map<std::pair<Format, u16>, const Row *> seen;
    for (const Row &row : allRows()) {
      if (!(row.targets & target))
        continue;
      auto [it, fresh] = seen.insert({{row.format, row.opcode}, &row});
      EXPECT_TRUE(fresh) << row.name << " and " << it->second->name << " share an opcode";
    }
  }
}

TEST(Table, RowsAreComplete) {
  for (const Row &row : allRows()) {
    EXPECT_NE(row.handler, nullptr) << row.name;
    EXPECT_NE(row.targets, 0) << row.name;
    EXPECT_LE(row.signature.sourceCount, 4) << row.name;
    bool gfx950 = !(row.targets & kGfx942);
    EXPECT_EQ(findRow(row.format, row.opcode, gfx950), &row) << row.name;
  }
}

TEST(Table, MoreFixedBitsComeFirst) {
  int before = 32;
  for (const FormatInfo &info : formats()) {
    int bits = std::popcount(info.mask);
    EXPECT_LE(bits, before) << info.name;
    before = bits;
  }
  EXPECT_EQ(formatOf(0xd3e00000)->format, Format::Vop3p); // not VOP3
  EXPECT_EQ(formatOf(0xd1cb0000)->format, Format::Vop3);
  EXPECT_EQ(formatOf(0x7e000000)->format, Format::Vop1); // not VOP2
}

TEST(Table, LongFormsDeriveFromShortOnes) {
  EXPECT_STREQ(findLongRow(0x101, false)->name, "v_add_f32");
  EXPECT_STREQ(findLongRow(0x141, false)->name, "v_mov_b32");
  EXPECT_STREQ(findLongRow(0x041, false)->name, "v_cmp_lt_f32");
  EXPECT_EQ(findLongRow(0x117, false), nullptr); // v_fmamk has no long form
  EXPECT_EQ(findLongRow(0x268, false), nullptr); // v_cvt_pk_bf16_f32 is gfx950's
  EXPECT_STREQ(findLongRow(0x268, true)->name, "v_cvt_pk_bf16_f32");
}

} // namespace
} // namespace wavesmith::emulator
