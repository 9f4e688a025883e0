// A kernel that aborts itself says so.
// FAULT: memory aborted itself with s_trap 2
.include "kernel.inc"
kernel_begin
  s_trap 2
kernel_end
