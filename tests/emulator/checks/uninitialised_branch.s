// FAULT: uninitialised branches on SCC
.include "kernel.inc"
kernel_begin
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 1f
  s_nop 0
1:
kernel_end
