// Two waves count in the same LDS dwords: atomics do not race with atomics.
// BLOCK: 128
// CLEAN
// OUT 0 = 128
// OUT 1 = 128
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v8, 1
  v_cmp_eq_u32_e32 vcc, 0, v0
  s_and_saveexec_b64 s[8:9], vcc
  ds_write_b64 v30, v[2:3]
  s_mov_b64 exec, s[8:9]
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_add_u32 v30, v8
  ds_add_rtn_u32 v4, v30, v8 offset:4
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b64 v[6:7], v30
  s_waitcnt lgkmcnt(0)
  global_store_dwordx2 v30, v[6:7], s[6:7]
kernel_end lds=8
