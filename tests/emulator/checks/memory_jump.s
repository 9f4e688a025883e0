// A jump to where no code is.
// FAULT: memory which is no code
.include "kernel.inc"
kernel_begin
  s_mov_b64 s[8:9], 0x1000
  s_setpc_b64 s[8:9]
kernel_end
