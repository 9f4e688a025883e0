// A fourth element that some lanes have is no vector of three.
// FAULT: uninitialised stores v7
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v4, 5
  v_mov_b32_e32 v5, 6
  v_mov_b32_e32 v6, 7
  v_lshlrev_b32_e32 v1, 4, v0
  s_mov_b64 exec, 0xff
  v_mov_b32_e32 v7, 8
  s_mov_b64 exec, -1
  global_store_dwordx4 v1, v[4:7], s[6:7]
kernel_end
