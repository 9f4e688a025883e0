// v_div_fmas rounds a denormal quotient once, as MODE says: to nearest, up, down, towards zero. The
// sums lie on or beside ties of denormal numbers; expected values are those of exact fractions.
// TARGET: gfx942 gfx950
// CLEAN
// OUT 0 = 0x932
// OUT 1 = 0x933
// OUT 2 = 0xaed
// OUT 3 = 0x4b3
.include "kernel.inc"
.macro fmas mode, a, b, c, at
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), \mode
  v_mov_b32 v2, \a
  v_mov_b32 v3, \b
  v_mov_b32 v4, \c
  v_div_fmas_f32 v5, v2, v3, v4
  put \at, v5
.endm
kernel_begin
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
  s_mov_b64 vcc, -1
  s_nop 4
  fmas 0, 0xb7f80000, 0x0e932800, 0x1a932800, 0
  fmas 1, 0xb7f80000, 0x0e932800, 0x1a932800, 1
  fmas 2, 0x38d60000, 0x0eaed800, 0x1aaed800, 2
  fmas 3, 0x37e80000, 0x0e167000, 0x1a167000, 3
kernel_end
