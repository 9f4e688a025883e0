// The output buffer was never written.
// FAULT: uninitialised stores v2
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[6:7] offset:2048
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7]
kernel_end
