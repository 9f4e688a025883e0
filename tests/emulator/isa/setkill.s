// A wave that kills itself has done what came before.
// BLOCK: 64
// CLEAN
// OUT 0 = 1
.include "kernel.inc"
kernel_begin
  put 0, 1
  s_setkill 1
  s_endpgm_saved
  s_trap 2
kernel_end
