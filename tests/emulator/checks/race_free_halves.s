// Each wave reads and writes its own half of a dword.
// BLOCK: 128
// CLEAN
// OUT 1 = 1
// OUT 65 = 65
.include "kernel.inc"
kernel_begin
  v_and_b32_e32 v1, 63, v0
  v_lshlrev_b32_e32 v1, 2, v1
  v_lshrrev_b32_e32 v2, 6, v0
  v_lshl_add_u32 v1, v2, 1, v1
  ds_write_b16 v1, v0
  ds_read_u16 v3, v1
  s_waitcnt lgkmcnt(0)
  ds_write_b16 v1, v3
  global_store_dword v29, v3, s[6:7]
kernel_end lds=256
