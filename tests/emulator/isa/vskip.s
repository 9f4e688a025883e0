// VSKIP: vector instructions, vector memory and LDS do nothing, scalar ones go on.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 5
// OUT 1 = 6
// OUT 2 = 1
// OUT 3 = 3
.include "kernel.inc"
kernel_begin
  v_mov_b32 v1, 5
  s_mov_b32 s10, 4
  s_mov_b32 s11, 2
  s_mov_b32 s12, 0
  s_setvskip s10, s11
  v_mov_b32 v1, 7
  v_cmpx_eq_u32 exec, 0, v1
  v_add_u32 v1, v1, v20
  ds_write_b32 v21, v22
  global_store_dword v23, v24, s[6:7]
  s_mov_b32 s12, 6
  s_getreg_b32 s13, hwreg(HW_REG_MODE, 28, 1)
  s_setvskip 0, 0
  put 0, v1
  put 1, s12
  put 2, s13
  // By MODE, together with an index: nothing moves what is not executed.
  v_mov_b32 v2, 3
  s_set_gpr_idx_on 255, gpr_idx(DST)
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1
  v_mov_b32 v2, 4
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 2), 0
  put 3, v2
kernel_end
