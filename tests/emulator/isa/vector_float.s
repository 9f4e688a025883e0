// NaN, signed zero and modifiers; powers of two are exact in the approximations.
// CLEAN
// OUT 0 = 0x40400000
// OUT 1 = 0x3f800000
// OUT 2 = 0x00000000
// OUT 3 = 0xc0000000
// OUT 4 = 0x40000000
// OUT 5 = 0x40400000
// OUT 6 = 0x3e800000
// OUT 7 = 0xff800000
// OUT 8 = 0x00000000
// OUT 9 = 0x40000000
// OUT 10 = 0x3f800000
// OUT 11 = 0x40a00000
// OUT 12 = 0xbf800000
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 1.0
  v_mov_b32_e32 v2, 2.0
  v_mov_b32_e32 v3, 0x7fc00000
  v_add_f32_e32 v4, v1, v2
  put 0, v4
  v_max_f32_e32 v4, v3, v1
  put 1, v4
  v_mov_b32_e32 v5, 0x80000000
  v_max_f32_e32 v4, v5, v30
  put 2, v4
  v_mul_f32_e64 v4, -v1, |v2|
  put 3, v4
  v_exp_f32_e32 v4, v1
  put 4, v4
  v_log_f32_e32 v4, 0x41000000
  put 5, v4
  v_rcp_f32_e32 v4, 4.0
  put 6, v4
  v_log_f32_e32 v4, v30
  put 7, v4
  v_exp_f32_e32 v4, 0xff800000
  put 8, v4
  v_med3_f32 v4, v1, 4.0, v2
  put 9, v4
  v_add_f32_e64 v4, v2, v2 clamp
  put 10, v4
  v_fma_f32 v4, v2, v2, v1
  put 11, v4
  v_floor_f32_e32 v4, -0.5
  put 12, v4
kernel_end
