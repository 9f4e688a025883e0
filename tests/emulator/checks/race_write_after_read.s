// BLOCK: 128
// FAULT: races after the read by ds_read_b32
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_xor_b32_e32 v2, 0x100, v1
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  ds_write_b32 v1, v3
  s_waitcnt lgkmcnt(0)
kernel_end lds=512
