// The index leads beyond the wave's registers: a source reads v0, a destination is not written.
// BLOCK: 64
// FAULT: registers M0's index 40 leads to v44 of a wave that owns 32
// OUT 0 = 63
// OUT 1 = 9
.include "kernel.inc"
kernel_begin
  v_mov_b32 v1, 9
  s_set_gpr_idx_on 40, gpr_idx(SRC0)
  v_mov_b32 v1, v4
  s_set_gpr_idx_off
  put 0, v1
  v_mov_b32 v1, 9
  s_set_gpr_idx_on 255, gpr_idx(DST)
  v_mov_b32 v1, 8
  s_set_gpr_idx_off
  put 1, v1
kernel_end
