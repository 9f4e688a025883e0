// One wave never arrives at the barrier where the other waits.
// BLOCK: 128
// BUDGET: 1000
// FAULT: barriers waves that wait for it at a barrier: 1
.include "kernel.inc"
kernel_begin
  v_lshrrev_b32_e32 v1, 6, v0
  s_nop 0
  v_readfirstlane_b32 s8, v1
1:
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 1b
  s_barrier
kernel_end
