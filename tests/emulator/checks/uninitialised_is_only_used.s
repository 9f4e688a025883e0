// Copies, masks and packs of half-defined registers are fine while no undefined bit gets out.
// CLEAN
// OUT 0 = 0
// OUT 5 = 0x00050005
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v3, v3, v3
  v_mov_b32_e32 v4, v5
  v_perm_b32 v4, v0, v4, v3
  global_load_short_d16 v6, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_and_b32_e32 v7, 0xffff, v6
  global_load_short_d16_hi v6, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_or_b32_e32 v6, v6, v7
  v_add_u32_e32 v6, v6, v3
  global_store_dword v1, v6, s[6:7]
kernel_end
