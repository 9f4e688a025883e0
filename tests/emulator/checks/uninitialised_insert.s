// ((old ^ new) & mask) ^ old, an insert of the mask's bits into an undefined register, in vector
// registers with all lanes and with half of them, through a copy and an AGPR, and in scalar ones.
// CLEAN
// OUT 1 = 0x0100
// OUT 65 = 0x0100
// OUT 97 = 0x0100
// OUT 129 = 0x0100
// OUT 192 = 0x00230000
// OUT 193 = 0x00230000
// OUT 194 = 0x00000100
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 8, v0
  v_xor_b32_e32 v3, v2, v1
  v_and_b32_e32 v3, 0xff00, v3
  v_xor_b32_e32 v3, v3, v2
  v_and_b32_e32 v4, 0xff00, v3
  putv 0, v4
  // Lanes 32 and up get another undefined register's insert.
  s_mov_b32 exec_lo, 0
  v_xor_b32_e32 v3, v5, v1
  v_and_b32_e32 v3, 0xff00, v3
  v_xor_b32_e32 v3, v3, v5
  s_mov_b32 exec_lo, -1
  v_and_b32_e32 v4, 0xff00, v3
  v_and_b32_e32 v4, 0x1f00, v4
  putv 1, v4
  v_accvgpr_write_b32 a0, v6
  v_mov_b32_e32 v7, v6
  v_xor_b32_e32 v3, v7, v1
  v_accvgpr_read_b32 v8, a0
  v_and_b32_e32 v3, 0xff00, v3
  v_xor_b32_e32 v3, v3, v8
  v_and_b32_e32 v4, 0xff00, v3
  putv 2, v4
  s_mov_b32 s10, 0x00230100
  s_xor_b32 s21, s20, s10
  s_and_b32 s21, s21, 0x00ff0000
  s_xor_b32 s21, s21, s20
  s_and_b32 s21, s21, 0x00ff0000
  put 192, s21
  s_mov_b32 s11, s10
  s_mov_b32 s13, 0xff00
  s_mov_b32 s12, 0xff0000
  s_xor_b64 s[24:25], s[22:23], s[10:11]
  s_and_b64 s[24:25], s[24:25], s[12:13]
  s_xor_b64 s[24:25], s[24:25], s[22:23]
  s_and_b64 s[24:25], s[24:25], s[12:13]
  put 193, s24
  put 194, s25
kernel_end vgprs=40
