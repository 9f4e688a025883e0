// CLEAN
// OUT 0 = 0x55667788
// OUT 1 = 0xff00ff00
// OUT 2 = 0x78
// OUT 3 = 0x44556677
// OUT 4 = 0x17
// OUT 5 = 0xfffffffe
// OUT 6 = 0xfffffffe
// OUT 7 = 1
// OUT 8 = 0
// OUT 9 = 0x80000001
// OUT 10 = 0x00000001
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 0x11223344
  v_mov_b32_e32 v2, 0x55667788
  v_mov_b32_e32 v3, 0x03020100
  v_perm_b32 v4, v1, v2, v3
  put 0, v4
  v_mov_b32_e32 v3, 0x0d0c0d0c
  v_perm_b32 v4, v1, v2, v3
  put 1, v4
  v_bfe_u32 v4, v2, 4, 8
  put 2, v4
  v_alignbit_b32 v4, v1, v2, 8
  put 3, v4
  v_mad_u32_u24 v4, 4, 5, 3
  put 4, v4
  v_mov_b32_e32 v6, -1
  v_mov_b32_e32 v7, -1
  v_mad_u64_u32 v[8:9], s[10:11], v6, v7, v[6:7]
  put 5, v9
  v_mul_hi_u32 v4, v6, v7
  put 6, v4
  v_lshl_add_u64 v[8:9], v[6:7], 1, 3
  put 7, v8
  put 8, v9
  v_mov_b32_e32 v10, 1
  v_mov_b32_e32 v11, 0x80000000
  v_lshrrev_b64 v[8:9], 0, v[10:11]
  v_or_b32_e32 v4, v8, v9
  put 9, v4
  v_add_co_u32_e32 v4, vcc, v6, v10
  s_nop 1
  v_addc_co_u32_e32 v4, vcc, 0, v30, vcc
  put 10, v4
kernel_end
