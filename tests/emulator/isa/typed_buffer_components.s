// Buffers with a format: every number of components, 32-bit and 16-bit registers, loads and stores.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 0x3f800000
// OUT 1 = 0xeeeeeeee
// OUT 2 = 0xeeeeeeee
// OUT 3 = 0xeeeeeeee
// OUT 4 = 0x3f800000
// OUT 5 = 0x40000000
// OUT 6 = 0xeeeeeeee
// OUT 7 = 0xeeeeeeee
// OUT 8 = 0x3f800000
// OUT 9 = 0x40000000
// OUT 10 = 0xbf000000
// OUT 11 = 0xeeeeeeee
// OUT 12 = 0x3f800000
// OUT 13 = 0x40000000
// OUT 14 = 0xbf000000
// OUT 15 = 0x41000000
// OUT 16 = 0xeeee3c00
// OUT 17 = 0xeeeeeeee
// OUT 18 = 0xeeeeeeee
// OUT 19 = 0xeeeeeeee
// OUT 20 = 0x40003c00
// OUT 21 = 0xeeeeeeee
// OUT 22 = 0xeeeeeeee
// OUT 23 = 0xeeeeeeee
// OUT 24 = 0x40003c00
// OUT 25 = 0xeeeeb800
// OUT 26 = 0xeeeeeeee
// OUT 27 = 0xeeeeeeee
// OUT 28 = 0x40003c00
// OUT 29 = 0x4800b800
// OUT 30 = 0xeeeeeeee
// OUT 31 = 0xeeeeeeee
// OUT 32 = 0x3f800000
// OUT 33 = 0xeeeeeeee
// OUT 34 = 0xeeeeeeee
// OUT 35 = 0xeeeeeeee
// OUT 36 = 0x3f800000
// OUT 37 = 0x40000000
// OUT 38 = 0xeeeeeeee
// OUT 39 = 0xeeeeeeee
// OUT 40 = 0x3f800000
// OUT 41 = 0x40000000
// OUT 42 = 0xbf000000
// OUT 43 = 0xeeeeeeee
// OUT 44 = 0x3f800000
// OUT 45 = 0x40000000
// OUT 46 = 0xbf000000
// OUT 47 = 0x41000000
// OUT 48 = 0xeeee3c00
// OUT 49 = 0xeeeeeeee
// OUT 50 = 0xeeeeeeee
// OUT 51 = 0xeeeeeeee
// OUT 52 = 0x40003c00
// OUT 53 = 0xeeeeeeee
// OUT 54 = 0xeeeeeeee
// OUT 55 = 0xeeeeeeee
// OUT 56 = 0x40003c00
// OUT 57 = 0xeeeeb800
// OUT 58 = 0xeeeeeeee
// OUT 59 = 0xeeeeeeee
// OUT 60 = 0x40003c00
// OUT 61 = 0x4800b800
// OUT 62 = 0xeeeeeeee
// OUT 63 = 0xeeeeeeee
// OUT 64 = 0x3c00
// OUT 65 = 0x0
// OUT 66 = 0x40003c00
// OUT 67 = 0x0
// OUT 68 = 0x40003c00
// OUT 69 = 0xb800
// OUT 70 = 0x40003c00
// OUT 71 = 0x4800b800
// OUT 72 = 0x3c00
// OUT 73 = 0x0
// OUT 74 = 0x40003c00
// OUT 75 = 0x0
// OUT 76 = 0x40003c00
// OUT 77 = 0xb800
// OUT 78 = 0x40003c00
// OUT 79 = 0x4800b800
// OUT 80 = 0x3c00
// OUT 81 = 0x0
// OUT 82 = 0x40003c00
// OUT 83 = 0x0
// OUT 84 = 0x40003c00
// OUT 85 = 0xb800
// OUT 86 = 0x40003c00
// OUT 87 = 0x4800b800
// OUT 88 = 0x3c00
// OUT 89 = 0x0
// OUT 90 = 0x40003c00
// OUT 91 = 0x0
// OUT 92 = 0x40003c00
// OUT 93 = 0xb800
// OUT 94 = 0x40003c00
// OUT 95 = 0x4800b800
.include "kernel.inc"
.macro fill
  v_mov_b32 v4, 0xeeeeeeee
  v_mov_b32 v5, v4
  v_mov_b32 v6, v4
  v_mov_b32 v7, v4
.endm
.macro four at
  s_waitcnt vmcnt(0)
  v_mov_b32 v8, 4*\at
  global_store_dwordx4 v8, v[4:7], s[6:7]
.endm
.macro element at
  s_waitcnt vmcnt(0)
  global_load_dwordx2 v[4:5], v9, s[6:7]
  v_mov_b32 v8, 4*\at
  s_waitcnt vmcnt(0)
  global_store_dwordx2 v8, v[4:5], s[6:7]
.endm
kernel_begin
  s_mov_b64 exec, 1
  s_add_u32 s8, s6, 0x8000
  s_addc_u32 s9, s7, 0
  s_mov_b32 s10, 64
  s_mov_b32 s11, 12<<15 | 7<<12 | 4 | 5<<3 | 6<<6 | 7<<9
  v_mov_b32 v12, 0x3f800000
  v_mov_b32 v13, 0x40000000
  v_mov_b32 v14, 0xbf000000
  v_mov_b32 v15, 0x41000000
  v_mov_b32 v16, 0x40003c00
  v_mov_b32 v17, 0x4800b800
  v_mov_b32 v9, 0x8000
  global_store_dwordx2 v9, v[16:17], s[6:7]
  v_mov_b32 v9, 0x8010
  s_waitcnt vmcnt(0)
  // Loads of float16 elements: what is not loaded stays 0xeeeeeeee.
  fill
  buffer_load_format_x v4, off, s[8:11], 0
  four 0
  fill
  buffer_load_format_xy v[4:5], off, s[8:11], 0
  four 4
  fill
  buffer_load_format_xyz v[4:6], off, s[8:11], 0
  four 8
  fill
  buffer_load_format_xyzw v[4:7], off, s[8:11], 0
  four 12
  fill
  buffer_load_format_d16_x v4, off, s[8:11], 0
  four 16
  fill
  buffer_load_format_d16_xy v4, off, s[8:11], 0
  four 20
  fill
  buffer_load_format_d16_xyz v[4:5], off, s[8:11], 0
  four 24
  fill
  buffer_load_format_d16_xyzw v[4:5], off, s[8:11], 0
  four 28
  fill
  tbuffer_load_format_x v4, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 32
  fill
  tbuffer_load_format_xy v[4:5], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 36
  fill
  tbuffer_load_format_xyz v[4:6], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 40
  fill
  tbuffer_load_format_xyzw v[4:7], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 44
  fill
  tbuffer_load_format_d16_x v4, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 48
  fill
  tbuffer_load_format_d16_xy v4, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 52
  fill
  tbuffer_load_format_d16_xyz v[4:5], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 56
  fill
  tbuffer_load_format_d16_xyzw v[4:5], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT]
  four 60
  // Stores of float16 elements out of v[12:15] (float32) and v[16:17]: missing components are zero.
  buffer_store_format_x v12, off, s[8:11], 0 offset:16
  element 64
  buffer_store_format_xy v[12:13], off, s[8:11], 0 offset:16
  element 66
  buffer_store_format_xyz v[12:14], off, s[8:11], 0 offset:16
  element 68
  buffer_store_format_xyzw v[12:15], off, s[8:11], 0 offset:16
  element 70
  buffer_store_format_d16_x v16, off, s[8:11], 0 offset:16
  element 72
  buffer_store_format_d16_xy v16, off, s[8:11], 0 offset:16
  element 74
  buffer_store_format_d16_xyz v[16:17], off, s[8:11], 0 offset:16
  element 76
  buffer_store_format_d16_xyzw v[16:17], off, s[8:11], 0 offset:16
  element 78
  tbuffer_store_format_x v12, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 80
  tbuffer_store_format_xy v[12:13], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 82
  tbuffer_store_format_xyz v[12:14], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 84
  tbuffer_store_format_xyzw v[12:15], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 86
  tbuffer_store_format_d16_x v16, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 88
  tbuffer_store_format_d16_xy v16, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 90
  tbuffer_store_format_d16_xyz v[16:17], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 92
  tbuffer_store_format_d16_xyzw v[16:17], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] offset:16
  element 94
kernel_end
