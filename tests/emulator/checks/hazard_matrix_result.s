// Four passes need seven wait states before a VALU reads the result.
// FAULT: hazards reads result
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[2:3], 0
  s_nop 5
  v_mov_b32_e32 v4, v12
kernel_end
