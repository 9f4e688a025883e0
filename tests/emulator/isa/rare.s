// What compilers seldom emit: relative moves, cube maps, sums over byte windows, odd LDS atomics.
// BLOCK: 64
// CLEAN
// OUT 0 = 0x77
// OUT 1 = 0x55
// OUT 2 = 0x12345678
// OUT 3 = 0x9abcdef0
// OUT 5 = 3
// OUT 6 = 1
// OUT 7 = -2
// OUT 8 = -8
// OUT 9 = 0x00170026
// OUT 10 = 0x00060006
// OUT 11 = 0x00160024
// OUT 12 = 0x00020006
// OUT 13 = 0x1122c844
// OUT 14 = 0x7f00ff0f
// OUT 15 = 0x70ffffff
// OUT 16 = 7
// OUT 17 = 7
// OUT 18 = 7
// OUT 19 = 0
// OUT 20 = 0x40000000
// OUT 21 = 0x80000000
// OUT 22 = 0x40000000
// OUT 23 = 5
// OUT 24 = 0x40000000
.include "kernel.inc"
kernel_begin
  s_mov_b32 s20, 0x11
  s_mov_b32 s22, 0x77
  s_mov_b32 m0, 2
  s_nop 4
  s_movrels_b32 s30, s20
  put 0, s30
  s_mov_b32 s31, 0x55
  s_movreld_b32 s32, s31
  put 1, s34
  s_mov_b32 s26, 0x12345678
  s_mov_b32 s27, 0x9abcdef0
  s_movrels_b64 s[36:37], s[24:25]
  s_movreld_b64 s[38:39], s[36:37]
  put 2, s40
  put 3, s41
  s_cbranch_cdbgsys 1
  s_cbranch_cdbguser 1
  s_cbranch_cdbgsys_or_user 1
  s_cbranch_cdbgsys_and_user 1
  s_sendmsghalt sendmsg(MSG_INTERRUPT)
  // The face of direction (1, -4, 2) is -y; its coordinates are x and -z, its axis twice y.
  v_mov_b32 v1, 1.0
  v_mov_b32 v2, -4.0
  v_mov_b32 v3, 2.0
  v_cubeid_f32 v4, v1, v2, v3
  v_cubesc_f32 v5, v1, v2, v3
  v_cubetc_f32 v6, v1, v2, v3
  v_cubema_f32 v7, v1, v2, v3
  v_cvt_i32_f32 v4, v4
  v_cvt_i32_f32 v5, v5
  v_cvt_i32_f32 v6, v6
  v_cvt_i32_f32 v7, v7
  put 5, v4
  put 6, v5
  put 7, v6
  put 8, v7
  // Windows 01020304, 05010203, ... of the bytes against 01010101.
  v_mov_b32 v8, 0x01020304
  v_mov_b32 v9, 0x00000005
  v_mov_b32 v10, 0x01010101
  v_mov_b32 v12, 0x00100020
  v_mov_b32 v13, 0
  v_qsad_pk_u16_u8 v[14:15], v[8:9], v10, v[12:13]
  put 9, v14
  put 10, v15
  v_mov_b32 v10, 0x01010001
  v_mqsad_pk_u16_u8 v[16:17], v[8:9], v10, v[12:13]
  put 11, v16
  put 12, v17
  v_mov_b32 v18, 0x11223344
  v_mov_b32 v19, 0x43480000
  v_cvt_pkaccum_u8_f32 v18, v19, 1
  put 13, v18
  // LDS.
  s_mov_b64 exec, 1
  v_mov_b32 v1, 0x00ff00ff
  v_mov_b32 v2, 0x0f00000f
  v_mov_b32 v3, 0x7fffffff
  ds_write_b32 v30, v3
  ds_mskor_b32 v30, v1, v2
  ds_mskor_rtn_b32 v4, v30, v2, v1
  ds_read_b32 v5, v30
  s_waitcnt lgkmcnt(0)
  put 14, v4
  put 15, v5
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15
  v_mov_b32 v1, 0x80000000
  v_mov_b32 v2, 7
  v_mov_b32 v3, 0
  ds_write_b32 v30, v3
  ds_cmpst_f32 v30, v1, v2
  ds_cmpst_rtn_f32 v4, v30, v3, v1
  ds_read_b32 v5, v30
  ds_wrap_rtn_b32 v6, v30, v2, v1
  ds_read_b32 v7, v30
  s_waitcnt lgkmcnt(0)
  put 16, v4
  put 17, v5
  put 18, v6
  put 19, v7
  // -0 equals +0 as doubles; the pair at 8 takes 2.0 and then loses to the mask.
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0x80000000
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0x40000000
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  ds_write_b64 v30, v[20:21] offset:8
  v_mov_b32 v2, 0
  v_mov_b32 v4, v2
  v_mov_b32 v5, v3
  ds_cmpst_f64 v30, v[4:5], v[8:9] offset:8
  ds_cmpst_rtn_f64 v[10:11], v30, v[4:5], v[8:9] offset:8
  ds_mskor_b64 v30, v[8:9], v[4:5] offset:8
  ds_mskor_rtn_b64 v[12:13], v30, v[4:5], v[8:9] offset:8
  ds_read_b64 v[14:15], v30 offset:8
  s_waitcnt lgkmcnt(0)
  put 20, v11
  put 21, v13
  put 22, v15
  v_mov_b32 v4, 0x80000005
  v_mov_b32 v5, 0x6
  ds_condxchg32_rtn_b64 v[10:11], v30, v[4:5] offset:8
  ds_read_b64 v[14:15], v30 offset:8
  s_waitcnt lgkmcnt(0)
  put 23, v14
  put 24, v15
kernel_end lds=64
