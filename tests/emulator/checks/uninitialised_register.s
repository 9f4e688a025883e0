// FAULT: uninitialised stores v2
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v2, v3, v1
  global_store_dword v1, v2, s[6:7]
kernel_end
