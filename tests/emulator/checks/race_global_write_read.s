// Workgroup 1 stores what workgroup 0 reads; nothing says which comes first.
// GRID: 2
// FAULT: races writes memory at
// FAULT: races reads by global_load_dword
.include "kernel.inc"
kernel_begin
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 1f
  global_load_dword v1, v29, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm
1:
  global_store_dword v29, v30, s[4:5]
kernel_end
