// Vectors of three elements of one, two and four bytes, stored as four: the fourth is anything.
// TARGET: gfx942 gfx950
// CLEAN
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
kernel_end
