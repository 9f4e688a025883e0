// More forks than the stack holds.
// BLOCK: 64
// FAULT: registers forks with 7 entries on the branch stack, which is full
.include "kernel.inc"
kernel_begin
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 29, 3), 7
  s_mov_b64 s[40:41], 1
  s_cbranch_i_fork s[40:41], on
on:
kernel_end
