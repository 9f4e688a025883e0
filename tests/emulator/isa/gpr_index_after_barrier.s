// The first instruction after a barrier is redirected like any other.
// TARGET: gfx942 gfx950
// ORDER: default run-to-barrier
// BLOCK: 128
// CLEAN
// OUT 0 = 0x22
.include "kernel.inc"
kernel_begin
  v_mov_b32 v5, 0x11
  v_mov_b32 v6, 0x22
  s_mov_b32 s12, 1
  s_set_gpr_idx_on s12, gpr_idx(SRC0)
  s_barrier
  v_mov_b32 v7, v5
  s_set_gpr_idx_off
  put 0, v7
kernel_end
