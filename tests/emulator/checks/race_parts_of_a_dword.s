// The low half is wave 0's, the high half wave 1's, and wave 2 reads the low one at once.
// BLOCK: 192
// FAULT: races reads LDS at
// FAULT: races write by ds_write_b16 of wave 0
.include "kernel.inc"
kernel_begin
  v_and_b32_e32 v1, 63, v0
  v_lshlrev_b32_e32 v1, 2, v1
  v_lshrrev_b32_e32 v2, 6, v0
  s_nop 0
  v_readfirstlane_b32 s8, v2
  s_cmp_eq_u32 s8, 2
  s_cbranch_scc1 1f
  v_lshl_add_u32 v1, v2, 1, v1
  ds_write_b16 v1, v0
  s_waitcnt lgkmcnt(0)
  s_endpgm
1:
  ds_read_u16 v3, v1
  s_waitcnt lgkmcnt(0)
kernel_end lds=256
