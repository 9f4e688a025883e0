// One wave spins for ever while the other waits for it.
// BLOCK: 128
// BUDGET: 10000
// FAULT: barriers waves that wait for it at a barrier: 0
.include "kernel.inc"
kernel_begin
  v_readfirstlane_b32 s8, v0
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 2f
1:
  s_nop 0
  s_branch 1b
2:
  s_barrier
kernel_end
