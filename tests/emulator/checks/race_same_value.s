// Waves that store the same value may meet, and each may read what it stored.
// BLOCK: 128
// CLEAN
// OUT 0 = 5
// OUT 70 = 12
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_and_b32_e32 v2, 63, v0
  v_add_u32_e32 v4, 6, v2
  v_lshlrev_b32_e32 v3, 2, v2
  v_mov_b32_e32 v5, 5
  ds_write_b32 v3, v4
  ds_write_b8 v3, v5 offset:256
  ds_write_b16 v3, v5 offset:512
  ds_read_b32 v6, v3
  ds_read_u8 v7, v3 offset:256
  s_waitcnt lgkmcnt(0)
  v_cmp_gt_u32_e32 vcc, 64, v0
  s_nop 1
  v_cndmask_b32_e32 v6, v6, v7, vcc
  global_store_dword v1, v6, s[6:7]
kernel_end lds=1024
