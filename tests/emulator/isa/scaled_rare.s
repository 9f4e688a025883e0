// Stochastic and scaled conversions of gfx950 that kernels seldom hold. Without noise they truncate.
// TARGET: gfx950
// CLEAN
// OUT 0 = 0x3c00
// OUT 1 = 0x3f80
// OUT 2 = 0x38
// OUT 3 = 0x3c
// OUT 4 = 0x38
// OUT 5 = 0x3c
// OUT 6 = 0x3c00
// OUT 7 = 0x3c00
// OUT 8 = 0x42
// OUT 9 = 0x42
// OUT 10 = 0x42
.include "kernel.inc"
kernel_begin
  v_mov_b32 v1, 1.0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 1.0
  v_mov_b32 v4, 0x3c00
  v_mov_b32 v5, 0x3f80
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  v_mov_b32 v12, 0
  v_mov_b32 v13, 0
  v_mov_b32 v14, 0
  v_mov_b32 v15, 0
  v_cvt_sr_f16_f32 v10, v1, v2
  v_cvt_sr_bf16_f32 v11, v1, v2
  v_cvt_scalef32_sr_fp8_f16 v12, v4, v2, v3
  v_cvt_scalef32_sr_bf8_f16 v13, v4, v2, v3
  v_cvt_scalef32_sr_fp8_bf16 v14, v5, v2, v3
  v_cvt_scalef32_sr_bf8_bf16 v15, v5, v2, v3
  put 0, v10
  put 1, v11
  put 2, v12
  put 3, v13
  put 4, v14
  put 5, v15
  v_cvt_scalef32_f16_fp8 v10, v12, v3
  v_cvt_scalef32_f16_bf8 v11, v13, v3
  put 6, v10
  put 7, v11
  v_mov_b32 v6, 1.0
  v_mov_b32 v7, 2.0
  v_mov_b32 v8, 0x40003c00
  v_mov_b32 v9, 0x40003f80
  v_mov_b32 v10, 0
  v_mov_b32 v11, 0
  v_mov_b32 v12, 0
  v_cvt_scalef32_sr_pk_fp4_f32 v10, v[6:7], v2, v3
  v_cvt_scalef32_sr_pk_fp4_f16 v11, v8, v2, v3
  v_cvt_scalef32_sr_pk_fp4_bf16 v12, v9, v2, v3
  put 8, v10
  put 9, v11
  put 10, v12
kernel_end
