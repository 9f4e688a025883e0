// The plain read at the start of such a loop may also meet other atomics.
// GRID: 4
// CLEAN
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  v_mov_b32_e32 v5, 1
  global_load_dword v3, v30, s[4:5]
  s_waitcnt vmcnt(0)
1:
  v_add_u32_e32 v2, 1, v3
  global_atomic_cmpswap v4, v30, v[2:3], s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32_e32 vcc, v4, v3
  v_mov_b32_e32 v3, v4
  s_cbranch_vccnz 1b
  global_atomic_add v30, v5, s[4:5]
kernel_end
