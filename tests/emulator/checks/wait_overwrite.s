// FAULT: waits overwrites v2
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  v_mov_b32_e32 v2, 0
  s_waitcnt vmcnt(0)
kernel_end
