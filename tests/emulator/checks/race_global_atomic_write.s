// An atomic does race with a plain store.
// GRID: 2
// FAULT: races changes memory at
// FAULT: races writes by global_store_dword
.include "kernel.inc"
kernel_begin
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc0 1f
  s_mov_b64 exec, 1
  global_store_dword v30, v30, s[6:7]
  s_endpgm
1:
  v_mov_b32_e32 v1, 1
  global_atomic_add v30, v1, s[6:7]
kernel_end
