// The table read backwards, against LLVM's text for the same words.

#include <gtest/gtest.h>

#include "emulator/Emulator.h"

namespace wavesmith::emulator {
namespace {

struct Case {
  const char *text;
  std::vector<std::uint32_t> words;
  const char *target = "gfx942";
};

TEST(Disassembler, SpellsLikeLlvm) {
  const Case cases[] = {
      {"s_load_dwordx8 s[44:51], s[0:1], 0x40", {0xC00E0B00, 0x00000040}},
      {"s_waitcnt lgkmcnt(0)", {0xBF8CC07F}},
      {"v_lshrrev_b32_e32 v1, 6, v0", {0x20020086}},
      {"v_mad_u64_u32 v[2:3], s[2:3], v90, s44, v[88:89]", {0xD1E80202, 0x0560595A}},
      {"buffer_load_dwordx4 v[122:125], v2, s[8:11], 0 offen offset:32", {0xE05C1020, 0x80027A02}},
      {"buffer_load_dword v4, s[8:11], s3 offen offset:8 lds", {0xE0511008, 0x03020004}},
      {"global_load_dword v4, v2, s[4:5] offset:-8 sc0 nt", {0xDC539FF8, 0x04040002}},
      {"scratch_load_dword v4, off, s3 offset:8", {0xDC504008, 0x04030000}},
      {"v_mfma_f32_32x32x8_bf16 a[0:15], v[2:3], a[4:5], a[0:15]", {0xD3E08000, 0x14020902}},
      {"v_mov_b32_dpp v1, v2 row_shr:3 row_mask:0xf bank_mask:0x7 bound_ctrl:1",
       {0x7E0202FA, 0xF7091302}},
      {"v_add_f32_sdwa v1, v2, -v3 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
       "src1_sel:DWORD",
       {0x020206F9, 0x16051102}},
      {"v_cmp_eq_f32_sdwa s[4:5], v1, v2 src0_sel:BYTE_0 src1_sel:WORD_1",
       {0x7C8404F9, 0x05008401}},
      {"v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]", {0xD2A24001, 0x00020702}},
      {"v_pk_mul_f32 v[0:1], s[2:3], v[4:5] op_sel_hi:[0,1]", {0xD3B14000, 0x10020802}},
      {"ds_read_b32 a4, v2 offset:8", {0xDA6C0008, 0x04000002}},
      {"buffer_wbl2 sc1", {0xE0A08000, 0x00000000}},
      {"v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[4:11], v[16:23], v[0:15], v20, v21 "
       "op_sel:[1,0,0] op_sel_hi:[1,1,0]",
       {0xD3AC0800, 0x18022B14, 0xD3AE0800, 0x04022104},
       "gfx950"},
      {"v_bitop3_b32 v1, v2, v3, v4 bitop3:0xca", {0xD2340101, 0x5C120702}, "gfx950"},
  };
  for (const Case &c : cases) {
    std::size_t size = 0;
    auto text = disassemble(c.words, 0, c.target, &size);
    ASSERT_TRUE(text) << c.text << ": " << text.status().message();
    EXPECT_EQ(*text, c.text);
    EXPECT_EQ(size, c.words.size() * 4) << c.text;
  }
}

TEST(Disassembler, UnknownWordsAreErrorsWithTheirBytes) {
  std::uint32_t word = 0xbf9f0000;
  auto text = disassemble(std::span(&word, 1), 0x40, "gfx942", nullptr);
  ASSERT_FALSE(text);
  EXPECT_NE(text.status().message().find("0xbf9f0000"), std::string::npos);
  EXPECT_FALSE(disassemble({}, 0, "gfx942", nullptr));
  EXPECT_FALSE(disassemble(std::span(&word, 1), 0, "gfx90a", nullptr));
  // v_cvt_pk_bf16_f32 exists on gfx950 only.
  std::uint32_t words[] = {0xD2680001, 0x00020702};
  EXPECT_FALSE(disassemble(words, 0, "gfx942", nullptr));
  EXPECT_TRUE(disassemble(words, 0, "gfx950", nullptr));
}

TEST(Disassembler, AnyWordsGiveTextOrAnError) {
  std::uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    std::uint32_t words[4];
    for (std::uint32_t &word : words) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      word = static_cast<std::uint32_t>(state >> 32);
    }
    std::size_t size = 0;
    auto text = disassemble(words, 0, i % 2 ? "gfx942" : "gfx950", &size);
    if (text) {
      EXPECT_GE(size, 4u);
      EXPECT_LE(size, 16u);
    }
  }
}

} // namespace
} // namespace wavesmith::emulator
