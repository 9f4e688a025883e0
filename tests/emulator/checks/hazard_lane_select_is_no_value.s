// The value of v_writelane is an ordinary SGPR operand; LLVM spills SGPRs with no more distance.
// CLEAN
// OUT 3 = 3
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 3
  v_mov_b32_e32 v2, 0
  s_nop 1
  v_readfirstlane_b32 s8, v1
  s_nop 1
  v_writelane_b32 v2, s8, 3
  putv 0, v2
kernel_end
