// FAULT: waits reads v2
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  ds_write_b32 v1, v0
  ds_read_b32 v2, v1
  v_add_u32_e32 v3, 1, v2
  s_waitcnt lgkmcnt(0)
kernel_end lds=256
