// Loads return in order, so a second load may take the register of the first; a store's data may
// be overwritten once it was issued.
// CLEAN
// OUT 3 = 4
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  global_load_dword v2, v1, s[4:5] offset:4
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7]
  v_mov_b32_e32 v2, 0
kernel_end
