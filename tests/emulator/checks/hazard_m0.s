// FAULT: hazards reads M0
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  s_mov_b32 m0, 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
kernel_end lds=256
