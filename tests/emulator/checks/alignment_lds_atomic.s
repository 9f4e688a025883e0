// FAULT: alignment not a multiple of 8
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 4
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  ds_add_u64 v1, v[2:3]
  s_waitcnt lgkmcnt(0)
kernel_end lds=512
