// Wide results that overlap their sources: all sources are read before anything is written.
// BLOCK: 64
// CLEAN
// OUT 0 = 0x3f800000
// OUT 1 = 0x40000000
// OUT 2 = 0x3f800000
// OUT 3 = 0x40000000
// OUT 4 = 0x3f800000
// OUT 5 = 0x40000000
// OUT 6 = 0
// OUT 7 = 0x3ff80000
// OUT 8 = 0
// OUT 9 = 0xc01c0000
// OUT 10 = 0xff000000
// OUT 11 = 0x41dfffff
// OUT 12 = 0x3fc00000
// OUT 13 = 23
// OUT 14 = 7
// OUT 15 = 0x50
// OUT 16 = 0x20
// OUT 17 = 0x40c00000
// OUT 18 = 0x40c00000
// OUT 19 = 4
// OUT 20 = 3
.include "kernel.inc"
kernel_begin
  // 1 and 2 in FP8, in the low and in the high half, out of either register of the result.
  v_mov_b32 v2, 0x4840
  v_cvt_pk_f32_fp8 v[2:3], v2
  put 0, v2
  put 1, v3
  v_mov_b32 v3, 0x4840
  v_cvt_pk_f32_fp8 v[2:3], v3
  put 2, v2
  put 3, v3
  v_mov_b32 v3, 0x48400000
  v_cvt_pk_f32_fp8_sdwa v[2:3], v3 src0_sel:WORD_1
  put 4, v2
  put 5, v3
  v_mov_b32 v3, 0x3fc00000
  v_cvt_f64_f32 v[2:3], v3
  put 6, v2
  put 7, v3
  v_mov_b32 v2, -7
  v_cvt_f64_i32 v[2:3], v2
  put 8, v2
  put 9, v3
  v_mov_b32 v3, 0x7ffffffc
  v_cvt_f64_u32 v[2:3], v3
  put 10, v2
  v_and_b32 v4, 0xffffffff, v3
  put 11, v4
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0x3ff80000
  v_cvt_f32_f64 v3, v[2:3]
  put 12, v3
  // 3 * 5 + (5 << 32 | 3) with the factors in the addend.
  v_mov_b32 v2, 3
  v_mov_b32 v3, 7
  v_mad_u64_u32 v[2:3], vcc, v2, v3, v[2:3]
  v_sub_u32 v2, v2, 1
  put 13, v2
  put 14, v3
  // A pair shifted by its own low word.
  v_mov_b32 v2, 4
  v_mov_b32 v3, 2
  v_lshlrev_b64 v[2:3], v2, v[2:3]
  v_add_u32 v2, 16, v2
  put 15, v2
  put 16, v3
  // Packed: both products read both words.
  v_mov_b32 v2, 2.0
  v_mov_b32 v3, 0x40400000
  v_pk_mul_f32 v[2:3], v[2:3], v[2:3] op_sel:[0,1] op_sel_hi:[1,0]
  put 17, v2
  put 18, v3
  v_mov_b32 v2, 3
  v_mov_b32 v3, 4
  v_pk_mov_b32 v[2:3], v[2:3], v[2:3] op_sel:[1,0]
  put 19, v2
  put 20, v3
kernel_end
