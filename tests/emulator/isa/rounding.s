// MODE rounds float64 arithmetic and mixed-precision fma: to nearest, up, down, toward zero. 1/3, -1/5
// and 1/1000 are not exact, nor are their sums and products; low words of the results.
// BLOCK: 64
// CLEAN
// OUT 0 = 0xa32846ff
// OUT 1 = 0x11111111
// OUT 2 = 0xd9c54a69
// OUT 3 = 0x78f7f1cd
// OUT 4 = 0x1555
// OUT 5 = 0xa32846ff
// OUT 6 = 0x11111111
// OUT 7 = 0xd9c54a69
// OUT 8 = 0x78f7f1cd
// OUT 9 = 0x1556
// OUT 10 = 0xa32846fe
// OUT 11 = 0x11111112
// OUT 12 = 0xd9c54a6a
// OUT 13 = 0x78f7f1cc
// OUT 14 = 0x1555
// OUT 15 = 0xa32846fe
// OUT 16 = 0x11111111
// OUT 17 = 0xd9c54a69
// OUT 18 = 0x78f7f1cc
// OUT 19 = 0x1555
// OUT 20 = 0x3de7fede
// OUT 21 = 0x3de7fede
// OUT 22 = 0x3de7fedd
// OUT 23 = 0x3de7fedd
.include "kernel.inc"
.macro round_doubles mode, first
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), \mode
  v_add_f64 v[10:11], v[2:3], v[6:7]
  v_mul_f64 v[12:13], v[2:3], v[4:5]
  v_fma_f64 v[14:15], v[2:3], v[4:5], v[6:7]
  v_mov_b64 v[16:17], v[2:3]
  v_fmac_f64 v[16:17], v[6:7], v[4:5]
  v_ldexp_f64 v[18:19], v[2:3], v8
  put \first, v10
  put \first+1, v12
  put \first+2, v14
  put \first+3, v16
  put \first+4, v18
.endm
.macro round_mix mode, at
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), \mode
  v_fma_mix_f32 v22, v20, v20, v21 op_sel_hi:[1,1,0]
  put \at, v22
.endm
kernel_begin
  v_mov_b32 v2, 0x55555555
  v_mov_b32 v3, 0x3fd55555
  v_mov_b32 v4, 0x9999999a
  v_mov_b32 v5, 0xbfc99999
  v_mov_b32 v6, 0xd2f1a9fc
  v_mov_b32 v7, 0x3f50624d
  v_mov_b32 v8, -1060
  round_doubles 0, 0
  round_doubles 1, 5
  round_doubles 2, 10
  round_doubles 3, 15
  v_mov_b32 v20, 0x3555
  v_mov_b32 v21, 0x3b11a2b4
  round_mix 0, 20
  round_mix 1, 21
  round_mix 2, 22
  round_mix 3, 23
kernel_end
