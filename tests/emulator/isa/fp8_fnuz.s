// gfx942: bias 8, largest 240, NaN only 0x80, no negative zero.
// CLEAN
// OUT 0 = 0xffff403f
// OUT 1 = 0x7f80ffff
// OUT 2 = 0x00008000
// OUT 3 = 0x3f800000
// OUT 4 = 0x43700000
// OUT 5 = 0x7fc00000
// OUT 6 = 0x40
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, -1
  v_mov_b32_e32 v2, 0x3f700000
  v_cvt_pk_fp8_f32 v1, v2, 1.0
  put 0, v1
  v_mov_b32_e32 v1, -1
  v_mov_b32_e32 v2, 0x43960000
  v_mov_b32_e32 v3, 0x43700000
  v_cvt_pk_fp8_f32 v1, v2, v3 op_sel:[0,0,1]
  put 1, v1
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v3, 0x80000000
  v_mov_b32_e32 v2, 0x7fc00000
  v_cvt_pk_fp8_f32 v1, v3, v2
  put 2, v1
  v_mov_b32_e32 v2, 0x807f40
  v_cvt_f32_fp8_e32 v3, v2
  put 3, v3
  v_cvt_f32_fp8_sdwa v3, v2 src0_sel:BYTE_1
  put 4, v3
  v_cvt_f32_fp8_sdwa v3, v2 src0_sel:BYTE_2
  put 5, v3
  v_mov_b32_e32 v1, 0
  v_cvt_pk_bf8_f32 v1, 1.0, 0
  put 6, v1
kernel_end
