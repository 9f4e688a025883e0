// BLOCK: 64
// FAULT: hazards a lane select just written by the VALU
.include "kernel.inc"
kernel_begin
  v_and_b32_e32 v1, 7, v0
  s_nop 1
  v_readfirstlane_b32 s8, v1
  s_nop 2
  v_readlane_b32 s9, v0, s8
kernel_end
