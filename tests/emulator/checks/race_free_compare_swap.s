// Two waves count in an LDS dword with a loop of a plain read and compare-and-swaps, as compilers
// expand atomics that the hardware lacks: neither order of the two is a race.
// BLOCK: 128
// CLEAN
// OUT 0 = 128
.include "kernel.inc"
kernel_begin
  v_cmp_eq_u32_e32 vcc, 0, v0
  s_and_saveexec_b64 s[8:9], vcc
  ds_write_b32 v30, v30
  s_mov_b64 exec, s[8:9]
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v1, v30
  s_waitcnt lgkmcnt(0)
1:
  v_mov_b32_e32 v2, v1
  v_add_u32_e32 v3, 1, v2
  ds_cmpst_rtn_b32 v1, v30, v2, v3
  s_waitcnt lgkmcnt(0)
  v_cmp_ne_u32_e32 vcc, v1, v2
  s_and_b64 exec, exec, vcc
  s_cbranch_execnz 1b
  s_mov_b64 exec, s[8:9]
  s_barrier
  ds_read_b32 v6, v30
  s_waitcnt lgkmcnt(0)
  global_store_dword v30, v6, s[6:7]
kernel_end lds=4
