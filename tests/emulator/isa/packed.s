// CLEAN
// OUT 0 = 0x40000000
// OUT 1 = 0x40c00000
// OUT 2 = 0x40400000
// OUT 3 = 0x44004200
// OUT 4 = 0x00030001
// OUT 5 = 0x40400000
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v2, 1.0
  v_mov_b32_e32 v3, 0x40400000
  v_mov_b32_e32 v4, 2.0
  v_mov_b32_e32 v5, 2.0
  v_pk_mul_f32 v[6:7], v[2:3], v[4:5]
  put 0, v6
  put 1, v7
  v_pk_mov_b32 v[6:7], v[2:3], v[4:5] op_sel:[1,0]
  put 2, v6
  v_mov_b32_e32 v8, 0x42004000
  v_mov_b32_e32 v9, 0x3c003c00
  v_pk_add_f16 v10, v8, v9
  put 3, v10
  v_mov_b32_e32 v8, 0x00020000
  v_mov_b32_e32 v9, 0x00010001
  v_pk_add_u16 v10, v8, v9
  put 4, v10
  v_mov_b32_e32 v8, 0x40003c00
  v_fma_mix_f32 v10, v8, 1.0, v8 op_sel:[1,0,0] op_sel_hi:[1,0,1]
  put 5, v10
kernel_end
