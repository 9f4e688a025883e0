// The wave that stored nothing still has to wait for those that stored the same value.
// BLOCK: 192
// FAULT: races after the write by ds_write_b32
.include "kernel.inc"
kernel_begin
  v_and_b32_e32 v2, 63, v0
  v_lshlrev_b32_e32 v3, 2, v2
  v_mov_b32_e32 v4, 7
  v_cmp_gt_u32_e32 vcc, 128, v0
  s_and_saveexec_b64 s[8:9], vcc
  ds_write_b32 v3, v4
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, s[8:9]
  ds_read_b32 v5, v3
  s_waitcnt lgkmcnt(0)
kernel_end lds=256
