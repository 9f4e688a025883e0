// Workgroup 0 waits for those after it, each of which raises a flag behind its result, with plain
// coherent loads and stores. It runs, so workgroups take turns.
// ORDER: default preemptive
// GRID: 4
// CLEAN
// OUT 0 = 18
.include "kernel.inc"
kernel_begin
  s_lshl_b32 s11, s2, 8
  s_lshl_b32 s12, s2, 2
  v_mov_b32_e32 v10, s12
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 2f
  v_add_u32_e32 v2, s11, v29
  v_mov_b32_e32 v1, 5
  v_add_u32_e32 v1, s2, v1
  global_store_dword v2, v1, s[6:7]
  s_waitcnt vmcnt(0)
  s_mov_b64 exec, 1
  v_mov_b32_e32 v3, -1
  global_store_dword v10, v3, s[4:5] sc1
  s_endpgm
2:
  global_load_dwordx3 v[12:14], v30, s[4:5] offset:4 sc1
  s_waitcnt vmcnt(0)
  v_and_b32_e32 v12, v12, v13
  v_and_b32_e32 v12, v12, v14
  v_cmp_ne_u32_e32 vcc, -1, v12
  s_cbranch_vccnz 2b
  global_load_dword v5, v29, s[6:7] offset:256
  global_load_dword v6, v29, s[6:7] offset:512
  global_load_dword v7, v29, s[6:7] offset:768
  s_waitcnt vmcnt(0)
  v_add3_u32 v5, v5, v6, v7
  v_add_u32_e32 v5, -3, v5
  global_store_dword v29, v5, s[6:7]
kernel_end
