// FAULT: memory not an instruction
.include "kernel.inc"
kernel_begin
  .long 0xbf8b0000
kernel_end
