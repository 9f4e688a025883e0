// FAULT: memory LDS access of 4 bytes at 0x40
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
kernel_end lds=64
