// A fork by a mask that was never written.
// BLOCK: 64
// FAULT: uninitialised branches by s40, which is undefined
.include "kernel.inc"
kernel_begin
  s_mov_b32 s41, 0
  s_cbranch_i_fork s[40:41], on
on:
kernel_end
