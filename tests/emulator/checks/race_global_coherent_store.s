// A coherent store orders nothing for who reads with a plain load.
// GRID: 2
// FAULT: races memory at
.include "kernel.inc"
kernel_begin
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 1f
  global_store_dword v29, v30, s[4:5] sc1
  s_endpgm
1:
  global_load_dword v1, v29, s[4:5]
  s_waitcnt vmcnt(0)
kernel_end
