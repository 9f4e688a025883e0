// Float atomics in LDS: denormals as MODE says, NaNs, zeros; those in the L2 cache keep denormals.
// BLOCK: 64
// CLEAN
// OUT 0 = 0x00400001
// OUT 1 = 1
// OUT 2 = 0x3f800000
// OUT 3 = 0x7fc00001
// OUT 4 = 0x7fe00000
// OUT 5 = 0x3c000002
// OUT 6 = 0x3f800003
// OUT 7 = 0
// OUT 8 = 0
// OUT 9 = 0x80000000
// OUT 10 = 0x80000005
// OUT 11 = 3
// OUT 12 = 0x00020002
// OUT 13 = 0
// OUT 14 = 0
// OUT 15 = 0x00800000
// OUT 16 = 0
// OUT 17 = 1
// OUT 18 = 0x3c000000
// OUT 19 = 0x3f800000
// OUT 20 = 3
// OUT 21 = 0
// OUT 22 = 1
// OUT 23 = 0x80000000
// OUT 24 = 3
// OUT 25 = 0
// OUT 26 = 3
// OUT 28 = 0x41200000
// OUT 29 = 0x42004000
// OUT 30 = 0x40404000
// OUT 31 = 0x40100000
.include "kernel.inc"
.macro denormals mode
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), \mode
.endm
.macro try index, name, old, data
  v_mov_b32 v1, \old
  v_mov_b32 v2, \data
  ds_write_b32 v30, v1
  \name v3, v30, v2
  ds_read_b32 v4, v30
  s_waitcnt lgkmcnt(0)
  put \index, v4
.endm
.macro try64 name, old, data_low, data_high
  v_mov_b32 v2, \old
  v_mov_b32 v3, 0
  v_mov_b32 v4, \data_low
  v_mov_b32 v5, \data_high
  ds_write_b64 v30, v[2:3]
  \name v[6:7], v30, v[4:5]
  ds_read_b64 v[8:9], v30
  s_waitcnt lgkmcnt(0)
.endm
kernel_begin
  s_mov_b64 exec, 1
  denormals 15
  try 0, ds_add_rtn_f32, 1, 0x00400000
  try 1, ds_min_rtn_f32, 0x00400000, 1
  // A quiet NaN loses, a signalling one wins and is quieted; +0 is above -0.
  try 2, ds_max_rtn_f32, 0x7fc00001, 1.0
  try 3, ds_min_rtn_f32, 0x7f800001, 1.0
  try 4, ds_max_rtn_f32, 1.0, 0x7fa00000
  try 5, ds_pk_add_rtn_f16, 0x00010001, 0x3c000001
  try 6, ds_pk_add_rtn_bf16, 0x00010001, 0x3f800002
  try 7, ds_max_rtn_f32, 0x80000000, 0
  // float32 flushed, the others kept. min and max only compare flushed numbers.
  denormals 12
  try 8, ds_add_rtn_f32, 1, 0x00400000
  try 9, ds_add_rtn_f32, 0x80000001, 0x80000002
  try 10, ds_min_rtn_f32, 0x80000005, 3
  try 11, ds_max_rtn_f32, 0x80000005, 3
  try 12, ds_pk_add_rtn_f16, 0x00010001, 0x00010001
  try 13, ds_add_rtn_f32, 0x00800001, 0x80800000
  v_mov_b32 v1, 0x80000003
  v_mov_b32 v2, 9
  v_mov_b32 v3, 0x12
  ds_write_b32 v30, v1
  ds_cmpst_f32 v30, v2, v3
  ds_read_b32 v4, v30
  s_waitcnt lgkmcnt(0)
  put 14, v4
  // Results only, operands only.
  denormals 13
  try 15, ds_add_rtn_f32, 0x00400000, 0x00400000
  try 16, ds_add_rtn_f32, 1, 1
  denormals 14
  try 17, ds_add_rtn_f32, 0x00800001, 0x80800000
  // 16 and 64 bits flushed; sums of doubles never are.
  denormals 3
  try 18, ds_pk_add_rtn_f16, 0x00010001, 0x3c008001
  try 19, ds_pk_add_rtn_bf16, 0x00010001, 0x3f808001
  try64 ds_add_rtn_f64, 1, 2, 0
  put 20, v8
  put 21, v9
  try64 ds_min_rtn_f64, 3, 1, 0x80000000
  put 22, v8
  put 23, v9
  try64 ds_max_rtn_f64, 3, 1, 0x80000000
  put 24, v8
  // LDS through its aperture, and device memory.
  denormals 0
  v_mov_b32 v1, 1
  v_mov_b32 v2, 2
  v_mov_b32 v8, 0
  v_mov_b32 v9, src_shared_base
  ds_write_b32 v30, v1
  s_waitcnt lgkmcnt(0)
  flat_atomic_add_f32 v[8:9], v2
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_read_b32 v4, v30
  s_waitcnt lgkmcnt(0)
  put 25, v4
  put 26, v1
  s_waitcnt vmcnt(0)
  global_atomic_add_f32 v30, v2, s[6:7] offset:104
  s_waitcnt vmcnt(0)
  // The forms that return nothing.
  v_mov_b32 v1, 2.0
  v_mov_b32 v2, 0x3fc00000
  v_mov_b32 v3, 0x40400000
  v_mov_b32 v4, 0x41200000
  ds_write_b32 v30, v1
  ds_add_f32 v30, v2
  ds_min_f32 v30, v3
  ds_max_f32 v30, v4
  ds_read_b32 v5, v30
  s_waitcnt lgkmcnt(0)
  put 28, v5
  v_mov_b32 v1, 0x3c003c00
  v_mov_b32 v2, 0x40003c00
  ds_write_b32 v30, v1
  ds_pk_add_f16 v30, v2
  ds_read_b32 v5, v30
  s_waitcnt lgkmcnt(0)
  put 29, v5
  v_mov_b32 v1, 0x3f803f80
  v_mov_b32 v2, 0x40003f80
  ds_write_b32 v30, v1
  ds_pk_add_bf16 v30, v2
  ds_read_b32 v5, v30
  s_waitcnt lgkmcnt(0)
  put 30, v5
  v_mov_b32 v2, 0
  v_mov_b32 v3, 2.0
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0x3ff00000
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0x40100000
  ds_write_b64 v30, v[2:3]
  ds_add_f64 v30, v[4:5]
  ds_min_f64 v30, v[2:3]
  ds_max_f64 v30, v[6:7]
  ds_read_b64 v[8:9], v30
  s_waitcnt lgkmcnt(0)
  put 31, v9
kernel_end lds=64
