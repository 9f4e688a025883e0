// A spin lock around a plain read and write, released by an exchange.
// GRID: 6
// ORDER: preemptive
// CLEAN
// OUT 64 = 6
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  v_mov_b32_e32 v2, 1          // cmpswap: new value, then the one expected
  v_mov_b32_e32 v3, 0
1:
  global_atomic_cmpswap v4, v30, v[2:3], s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32_e32 vcc, 0, v4
  s_cbranch_vccnz 1b
  global_load_dword v5, v30, s[4:5] offset:4
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v5, 1, v5
  global_store_dword v30, v5, s[4:5] offset:4
  s_waitcnt vmcnt(0)
  global_atomic_swap v30, v3, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v5, -1, v5
  global_atomic_umax v30, v5, s[6:7] offset:256
  s_waitcnt vmcnt(0)
kernel_end
