// A VALU result needs two wait states before a matrix instruction reads it.
// FAULT: hazards reads a matrix operand
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  s_nop 0
  v_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[2:3], 0
  s_nop 7
kernel_end
