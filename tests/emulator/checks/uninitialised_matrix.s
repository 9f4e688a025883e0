// A matrix product carries undefined inputs to the rows and columns they reach.
// FAULT: uninitialised stores v12
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v4, 1.0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[12:15], v[2:3], v[4:5], 0
  s_nop 7
  global_store_dword v1, v12, s[6:7]
kernel_end
