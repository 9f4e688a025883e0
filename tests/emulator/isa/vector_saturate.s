// Integer sums saturate under clamp: of 16 and 32 bits and packed, signed and not, differences, x * y + z.
// CLEAN
// OUT 0 = 0xffff
// OUT 1 = 0
// OUT 2 = 0
// OUT 3 = 0x7fff
// OUT 4 = 0x8000
// OUT 5 = 0xffff
// OUT 6 = 0x8000
// OUT 7 = 0x7fffffff
// OUT 8 = 0xffffffff
// OUT 9 = 0xffffffff
// OUT 10 = 0x80000000
// OUT 11 = 0x00010005
// OUT 12 = 0x7fff3333
// OUT 13 = 0x8000c444
// OUT 14 = 0x00001111
// OUT 15 = 0xffff8822
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 0x1111fff0
  v_mov_b32_e32 v2, 0x2222001f
  v_mov_b32_e32 v3, 0x33337ff0
  v_mov_b32_e32 v4, 0x44448001
  v_mov_b32_e32 v5, 0x7ffffff0
  v_mov_b32_e32 v6, 0xfffff0
  v_mov_b32_e32 v7, 0x80000001
  v_mov_b32_e32 v8, 0x800000
  v_mov_b32_e32 v9, 0x7fffff
  v_add_u16_e64 v10, v1, v2 clamp
  v_sub_u16_e64 v11, v2, v1 clamp
  v_subrev_u16_e64 v12, v1, v2 clamp
  v_add_i16 v13, v3, v2 clamp
  v_sub_i16 v14, v4, v2 clamp
  v_mad_u16 v15, v3, v3, v2 clamp
  v_mad_i16 v16, v3, v4, v2 clamp
  v_add_i32 v17, v5, v2 clamp
  v_add_u32_e64 v18, v7, v7 clamp
  v_mad_u32_u24 v19, v6, v6, v2 clamp
  v_mad_i32_i24 v20, v8, v9, v2 clamp
  v_mov_b32_e32 v22, 0x10000
  v_add_u32_e64 v22, v22, 5 clamp
  v_mov_b32_e32 v23, 0x7ff01111
  v_mov_b32_e32 v24, 0x001f2222
  v_mov_b32_e32 v25, 0x8001e666
  v_pk_add_i16 v26, v23, v24 clamp
  v_pk_sub_i16 v27, v25, v24 clamp
  v_pk_sub_u16 v28, v24, v23 clamp
  v_mov_b32_e32 v3, 0x01010200
  v_mov_b32_e32 v4, 0x01010033
  v_pk_mad_u16 v3, v3, v4, v24 clamp
  put 0, v10
  put 1, v11
  put 2, v12
  put 3, v13
  put 4, v14
  put 5, v15
  put 6, v16
  put 7, v17
  put 8, v18
  put 9, v19
  put 10, v20
  put 11, v22
  put 12, v26
  put 13, v27
  put 14, v28
  put 15, v3
kernel_end
