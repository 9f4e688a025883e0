// As race_global_write_read, and the reader is the later workgroup; a third one only reads.
// GRID: 3
// FAULT: races reads memory at
// FAULT: races which workgroup 1,0,0 wave 0 writes by global_store_dwordx2
.include "kernel.inc"
kernel_begin
  s_cmp_eq_u32 s2, 1
  s_cbranch_scc1 1f
  global_load_dword v1, v29, s[4:5]
  s_waitcnt vmcnt(0)
  s_endpgm
1:
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  v_lshlrev_b32_e32 v4, 3, v0
  global_store_dwordx2 v4, v[2:3], s[4:5]
kernel_end
