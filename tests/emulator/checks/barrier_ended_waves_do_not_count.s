// BLOCK: 128
// CLEAN
.include "kernel.inc"
kernel_begin
  v_readfirstlane_b32 s8, v0
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 1f
  s_endpgm
1:
  s_barrier
kernel_end
