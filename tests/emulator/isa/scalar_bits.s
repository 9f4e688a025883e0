// CLEAN
// OUT 0 = 32
// OUT 1 = 4
// OUT 2 = 27
// OUT 3 = 0xffffffff
// OUT 4 = 0x80000000
// OUT 5 = 0xfff0
// OUT 6 = 0x10
// OUT 7 = 0xffffff80
// OUT 8 = 7
// OUT 9 = 0x00020001
// OUT 10 = 1
.include "kernel.inc"
kernel_begin
  s_mov_b64 s[10:11], 0xffffffff
  s_bcnt1_i32_b64 s12, s[10:11]
  put 0, s12
  s_ff1_i32_b32 s12, 16
  put 1, s12
  s_flbit_i32_b32 s12, 16
  put 2, s12
  s_ff1_i32_b32 s12, 0
  put 3, s12
  s_brev_b32 s12, 1
  put 4, s12
  s_bfm_b32 s12, 12, 4
  put 5, s12
  s_andn2_b32 s12, 0x1f, 15
  put 6, s12
  s_mov_b32 s13, 0x180
  s_sext_i32_i8 s12, s13
  put 7, s12
  s_abs_i32 s12, -7
  put 8, s12
  s_pack_ll_b32_b16 s12, 1, 2
  put 9, s12
  s_bitcmp1_b32 s13, 7
  s_cselect_b32 s12, 1, 0
  put 10, s12
kernel_end
