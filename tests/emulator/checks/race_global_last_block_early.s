// The partial result comes after the count, so the last workgroup may read too early.
// GRID: 4
// FAULT: races memory at
// FAULT: races no atomic orders the two
.include "kernel.inc"
.include "checks/last_block.inc"
kernel_begin
  count_in
  leave_partial
  s_waitcnt vmcnt(0)
  s_cmp_eq_u32 s10, 3
  s_cbranch_scc0 1f
  sum_partials
1:
kernel_end
