// The same of scalar registers.
// FAULT: uninitialised branches on SCC
.include "kernel.inc"
kernel_begin
  s_xor_b32 s21, s20, 5
  s_cmp_eq_u32 s21, 0
  s_cbranch_scc1 .Lend
.Lend:
kernel_end
