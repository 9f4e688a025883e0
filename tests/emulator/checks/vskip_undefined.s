// Whether to skip depends on a register that was never written.
// BLOCK: 64
// FAULT: uninitialised skips or not by s20, which is undefined
.include "kernel.inc"
kernel_begin
  s_setvskip s20, 0
  s_setvskip 0, 0
kernel_end
