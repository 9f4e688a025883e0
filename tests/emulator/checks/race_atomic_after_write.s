// An atomic does race with a plain write of another wave.
// BLOCK: 128
// FAULT: races by ds_write_b32
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v3, 1
  v_cmp_gt_u32_e32 vcc, 64, v0
  s_and_saveexec_b64 s[8:9], vcc
  s_cbranch_execz 1f
  ds_write_b32 v30, v30
1:
  s_xor_b64 exec, exec, s[8:9]
  s_cbranch_execz 2f
  ds_add_u32 v30, v3
2:
  s_mov_b64 exec, s[8:9]
  s_waitcnt lgkmcnt(0)
kernel_end lds=8
