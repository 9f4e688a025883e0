// vmcnt(1) completes the first of two loads, not the second.
// FAULT: waits reads v3
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32_e32 v4, 1, v2
  v_add_u32_e32 v4, v4, v3
  s_waitcnt vmcnt(0)
kernel_end
