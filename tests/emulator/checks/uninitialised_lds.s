// FAULT: uninitialised stores v2
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[6:7]
kernel_end lds=256
