// FAULT: registers uses vector register 40
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v40, 0
kernel_end vgprs=32
