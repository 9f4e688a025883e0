// A kernel that aborts itself says so.
// TARGET: gfx942 gfx950
// FAULT: memory aborted itself with s_trap 2
.include "kernel.inc"
kernel_begin
  s_trap 2
kernel_end
