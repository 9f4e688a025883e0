// A join without its fork.
// BLOCK: 64
// FAULT: registers joins with nothing on the branch stack
.include "kernel.inc"
kernel_begin
  s_mov_b32 s20, 1
  s_cbranch_join s20
kernel_end
