// The budget counts to the instruction: four of the macro, two here.
// BUDGET: 5
// FAULT: barriers did not end within 5 instructions
.include "kernel.inc"
kernel_begin
  s_nop 0
kernel_end
