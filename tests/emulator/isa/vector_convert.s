// TARGET: gfx942 gfx950
// CLEAN
// OUT 0 = 0
// OUT 1 = 0xffffffff
// OUT 2 = 0
// OUT 3 = 0x80000000
// OUT 4 = 0x3c00
// OUT 5 = 0x7c00
// OUT 6 = 0x3555
// OUT 7 = 0x7bff3c00
// OUT 8 = 0x437f0000
// OUT 9 = 0x00000001
// OUT 10 = 0x40490fdb
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, -1.0
  v_cvt_u32_f32_e32 v2, v1
  put 0, v2
  v_cvt_u32_f32_e32 v2, 0x7f800000
  put 1, v2
  v_cvt_i32_f32_e32 v2, 0x7fc00000
  put 2, v2
  v_cvt_i32_f32_e32 v2, 0xff800000
  put 3, v2
  v_cvt_f16_f32_e32 v2, 1.0
  put 4, v2
  v_cvt_f16_f32_e32 v2, 0x477ff000
  put 5, v2
  v_cvt_f16_f32_e32 v2, 0x3eaaaaab
  put 6, v2
  v_mov_b32_e32 v3, 0x477ff000
  v_cvt_pkrtz_f16_f32 v2, 1.0, v3
  put 7, v2
  v_mov_b32_e32 v3, 0x00ff0000
  v_cvt_f32_ubyte2_e32 v2, v3
  put 8, v2
  v_cvt_f16_f32_e32 v2, 0x33800000
  put 9, v2
  v_mov_b32_e32 v4, 0x54442d18
  v_mov_b32_e32 v5, 0x400921fb
  v_cvt_f32_f64_e32 v2, v[4:5]
  put 10, v2
kernel_end
