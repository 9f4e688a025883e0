// MODE decides whether float32 denormals live.
// CLEAN
// OUT 0 = 0x00000002
// OUT 1 = 0
// OUT 2 = 0x00000001
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 1
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_nop 1
  v_add_f32_e32 v2, v1, v1
  put 0, v2
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
  s_nop 1
  v_add_f32_e32 v2, v1, v1
  put 1, v2
  v_mov_b32_e32 v2, v1
  put 2, v2
kernel_end
