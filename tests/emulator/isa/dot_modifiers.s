// Sums of products of halves take op_sel, neg_lo, neg_hi and clamp like packed math does: with
// a = (1, 2), b = (3, 4) as (low, high) and c = 0.5
// TARGET: gfx942 gfx950
// CLEAN
// OUT 0 = 0x41380000
// OUT 1 = 0x41280000
// OUT 2 = 0x40b00000
// OUT 3 = 0xc0900000
// OUT 4 = 0x41280000
// OUT 5 = 0x3f800000
// OUT 6 = 0
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v2, 0x40003c00
  v_mov_b32_e32 v3, 0x44004200
  v_mov_b32_e32 v4, 0.5
  v_dot2_f32_f16 v5, v2, v3, v4                          // 3 + 8 + 0.5
  put 0, v5
  // op_sel:[1,0,0] op_sel_hi:[0,1,1], which the assembler refuses: 6 + 4 + 0.5
  .long 0xd3a34805, 0x14120702
  put 1, v5
  v_dot2_f32_f16 v5, v2, v3, v4 neg_lo:[1,0,0]           // -3 + 8 + 0.5
  put 2, v5
  v_dot2_f32_f16 v5, v2, v3, v4 neg_hi:[0,1,0]           // 3 - 8 + 0.5
  put 3, v5
  v_dot2_f32_f16 v5, v2, v3, v4 neg_lo:[0,0,1]           // 3 + 8 - 0.5
  put 4, v5
  v_dot2_f32_f16 v5, v2, v3, v4 clamp
  put 5, v5
  v_dot2_f32_f16 v5, v2, v3, v4 neg_hi:[0,1,0] clamp
  put 6, v5
kernel_end
