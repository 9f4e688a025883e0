// Waits and barriers in the right places; waves meet at different s_barrier instructions.
// BLOCK: 128
// CLEAN
// OUT 0 = 64
// OUT 70 = 6
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v2, 0x100, v1
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  v_and_b32_e32 v4, 0xc0, v0
  s_nop 0
  v_readfirstlane_b32 s8, v4
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 1f
  s_barrier
  s_branch 2f
1:
  s_barrier
2:
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_write_b32 v1, v3
  global_store_dword v1, v3, s[6:7]
kernel_end lds=512
