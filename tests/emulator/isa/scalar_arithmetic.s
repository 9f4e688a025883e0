// Carry, borrow, signed overflow and what SCC says after each.
// CLEAN
// OUT 0 = 0
// OUT 1 = 1
// OUT 2 = 6
// OUT 3 = 0xffffffff
// OUT 4 = 1
// OUT 5 = 0x80000000
// OUT 6 = 1
// OUT 7 = 0xfffffffe
// OUT 8 = 5
// OUT 9 = 0xfffffffe
// OUT 10 = 0
// OUT 11 = 0x12345
// OUT 12 = 0xffffffff
.include "kernel.inc"
kernel_begin
  s_mov_b32 s10, -1
  s_add_u32 s11, s10, 1
  put 0, s11
  s_cselect_b32 s12, 1, 0
  put 1, s12
  s_add_u32 s11, s10, 1
  s_addc_u32 s11, 2, 3
  put 2, s11
  s_sub_u32 s11, 1, 2
  s_cselect_b32 s12, 1, 0
  put 3, s11
  put 4, s12
  s_mov_b32 s13, 0x7fffffff
  s_add_i32 s11, s13, 1
  s_cselect_b32 s12, 1, 0
  put 5, s11
  put 6, s12
  s_mul_hi_u32 s11, s10, s10
  put 7, s11
  s_min_i32 s11, s10, 5
  s_cselect_b32 s12, 3, 5
  s_max_i32 s11, 5, s10
  put 8, s11
  s_mul_hi_i32 s11, s10, 3
  s_lshl_b32 s11, s11, 1
  put 9, s11
  s_bfe_u32 s11, s10, 0
  put 10, s11
  s_mov_b32 s14, 0x123456
  s_bfe_u32 s11, s14, 0x140004
  put 11, s11
  s_bfe_i32 s11, s10, 0x40004
  put 12, s11
kernel_end
