// The budget counts to the instruction: four of the macro, two here.
// BUDGET: 6
// CLEAN
.include "kernel.inc"
kernel_begin
  s_nop 0
kernel_end
