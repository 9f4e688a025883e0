// A flat load counts on vmcnt and lgkmcnt. Once lgkmcnt is waited for, what is left of it is a vector
// memory load, which a later one may overtake in its register; reading it needs vmcnt too.
// FAULT: waits reads v3, which is the destination of flat_load_dwordx2
// OUT 0 = 4
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  v_mov_b32_e32 v4, s4
  v_mov_b32_e32 v5, s5
  flat_load_dwordx2 v[2:3], v[4:5]
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v30, s[4:5] offset:16
  v_mov_b32_e32 v6, v3
  s_waitcnt vmcnt(0)
  put 0, v2
kernel_end
