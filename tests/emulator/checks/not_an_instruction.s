// FAULT: memory not an instruction
.include "kernel.inc"
kernel_begin
  .long 0xbf9f0000
kernel_end
