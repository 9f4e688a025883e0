// Vectors of three elements of one, two and four bytes, stored as four: the fourth is anything, which
// is no fault; using it is one.
// FAULT: uninitialised branches on VCC
// OUT 0 = 5
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  v_mov_b32_e32 v4, 5
  v_mov_b32_e32 v5, 6
  v_mov_b32_e32 v6, 7
  v_mov_b32_e32 v1, 0
  global_store_dwordx4 v1, v[4:7], s[6:7]
  v_and_b32_e32 v9, 0xffff0000, v7
  v_or_b32_e32 v9, 3, v9
  v_mov_b32_e32 v8, v4
  global_store_dwordx2 v1, v[8:9], s[6:7] offset:16
  v_and_b32_e32 v10, 0xff000000, v7
  global_store_dword v1, v10, s[6:7] offset:24
  s_waitcnt vmcnt(0)
  global_load_dword v2, v1, s[6:7] offset:12
  s_waitcnt vmcnt(0)
  v_cmp_gt_i32_e32 vcc, 0, v2
  s_cbranch_vccnz .Lend
.Lend:
kernel_end
