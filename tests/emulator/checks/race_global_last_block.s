// ORDER: default preemptive
// GRID: 4
// CLEAN
// OUT 0 = 26
// OUT 63 = 26
.include "kernel.inc"
.include "checks/last_block.inc"
kernel_begin
  leave_partial
  s_waitcnt vmcnt(0)
  count_in
  s_cmp_eq_u32 s10, 3
  s_cbranch_scc0 1f
  sum_partials
1:
kernel_end
