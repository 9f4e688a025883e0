// FAULT: alignment not a multiple of 4
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  ds_add_u32 v1, v0 offset:2
  s_waitcnt lgkmcnt(0)
kernel_end lds=512
