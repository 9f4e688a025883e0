// The index comes from a register that was never written.
// BLOCK: 64
// FAULT: uninitialised M0, which selects registers by VGPR indexing, is undefined
.include "kernel.inc"
kernel_begin
  s_set_gpr_idx_on s20, gpr_idx(SRC0)
  v_mov_b32 v1, v0
  s_set_gpr_idx_off
kernel_end
