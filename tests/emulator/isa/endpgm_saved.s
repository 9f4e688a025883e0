// s_endpgm_saved ends the wave: what stands behind it does not run.
// TARGET: gfx942 gfx950
// CLEAN
// OUT 0 = 7
.include "kernel.inc"
kernel_begin
  s_mov_b32 s20, 7
  put 0, s20
  s_endpgm_saved
  s_mov_b32 s20, 8
  put 0, s20
kernel_end
