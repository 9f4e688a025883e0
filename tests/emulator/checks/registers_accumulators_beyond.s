// FAULT: registers uses vector register 48 of a wave that owns 48
.include "kernel.inc"
kernel_begin
  v_accvgpr_write_b32 a15, 1
  v_accvgpr_write_b32 a16, 1
kernel_end vgprs=48, accum=32
