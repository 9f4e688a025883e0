// v40 is there, but as a8.
// FAULT: registers uses v40, but AGPRs begin at 32
.include "kernel.inc"
kernel_begin
  v_accvgpr_write_b32 a8, 1
  v_mov_b32_e32 v40, 1
kernel_end vgprs=48, accum=32
