// gfx950: bias 7, largest 448, NaN 0x7f, negative zero exists.
// TARGET: gfx950
// CLEAN
// OUT 0 = 0x7e38
// OUT 1 = 0x7f80
// OUT 2 = 0x3f800000
// OUT 3 = 0x40003f80
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v3, 0x43e00000
  v_cvt_pk_fp8_f32 v1, 1.0, v3
  put 0, v1
  v_mov_b32_e32 v2, 0x80000000
  v_mov_b32_e32 v3, 0x44000000
  v_mov_b32_e32 v1, 0
  v_cvt_pk_fp8_f32 v1, v2, v3
  put 1, v1
  v_mov_b32_e32 v2, 0x38
  v_cvt_f32_fp8_e32 v3, v2
  put 2, v3
  v_cvt_pk_bf16_f32 v3, 1.0, 2.0
  put 3, v3
kernel_end
