// As race_same_value, but one byte differs between the waves.
// BLOCK: 128
// FAULT: races after the write by ds_write_b32
.include "kernel.inc"
kernel_begin
  v_and_b32_e32 v2, 63, v0
  v_lshlrev_b32_e32 v3, 2, v2
  v_lshlrev_b32_e32 v4, 12, v0
  ds_write_b32 v3, v4
  s_waitcnt lgkmcnt(0)
kernel_end lds=256
