// Buffers with a format: the descriptor's format and component selects, 16-bit registers, range checks
// of whole elements, structured buffers, LDS as the destination.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 0x3f800000
// OUT 1 = 0x3f800000
// OUT 2 = 0
// OUT 3 = 0x3e4ccccd
// OUT 4 = 0x39fe3266
// OUT 5 = 0xbeef3c00
// OUT 6 = 0x3266beef
// OUT 7 = 0xbeef3266
// OUT 8 = 0x00660033
// OUT 9 = 0xffff00bf
// OUT 10 = 0
// OUT 11 = 0x3f800000
// OUT 12 = 0x33
// OUT 13 = 0x12
// OUT 14 = 0
// OUT 15 = 51
// OUT 16 = 0xeeeeff80
// OUT 17 = 0xeeeeff00
// OUT 18 = 0x0000ff33
// OUT 19 = 0xffbf6633
// OUT 20 = 0x34
// OUT 21 = 0x3f800000
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  // 0x33 is 0.2, 0x66 0.4, 0xbf 0.749, 0xff 1 as unorm.
  v_mov_b32 v1, 0xffbf6633
  v_mov_b32 v2, 0x12345678
  v_mov_b32 v3, 0xeeeeeeee
  v_mov_b32 v4, 0x8000
  global_store_dword v4, v1, s[6:7]
  global_store_dword v4, v2, s[6:7] offset:4
  global_store_dwordx2 v4, v[2:3], s[6:7] offset:8
  global_store_dword v4, v3, s[6:7] offset:64
  global_store_dword v4, v3, s[6:7] offset:68
  global_store_dword v4, v3, s[6:7] offset:72
  s_waitcnt vmcnt(0)
  s_add_u32 s8, s6, 0x8000
  s_addc_u32 s9, s7, 0
  s_mov_b32 s10, 128
  // 8_8_8_8 unorm; components A, one, zero, R.
  s_mov_b32 s11, 10<<15 | 7 | 1<<3 | 0<<6 | 4<<9
  buffer_load_format_xyzw v[4:7], off, s[8:11], 0
  s_waitcnt vmcnt(0)
  put 0, v4
  put 1, v5
  put 2, v6
  put 3, v7
  // Halves: R, B, A; what no component fills stays.
  s_mov_b32 s11, 10<<15 | 4 | 6<<3 | 7<<6 | 5<<9
  v_mov_b32 v5, 0xbeefdead
  v_mov_b32 v8, 0xbeef
  v_mov_b32 v9, 0xbeef0000
  buffer_load_format_d16_xyz v[4:5], off, s[8:11], 0
  buffer_load_format_d16_hi_x v8, off, s[8:11], 0
  buffer_load_format_d16_x v9, off, s[8:11], 0
  s_waitcnt vmcnt(0)
  put 4, v4
  put 5, v5
  put 6, v8
  put 7, v9
  // Integers in halves.
  tbuffer_load_format_d16_xy v4, off, s[8:11], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UINT]
  tbuffer_load_format_d16_xyzw v[4:5], off, s[8:11], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UINT]
  s_waitcnt vmcnt(0)
  put 8, v4
  v_and_b32 v5, 0xff00ff, v5
  v_or_b32 v5, 0xff000000, v5
  put 9, v5
  // The element at 126 is not inside as a whole: zero, but a selected one is one.
  s_mov_b32 s11, 10<<15 | 4 | 1<<3
  v_mov_b32 v1, 126
  buffer_load_format_xy v[4:5], v1, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
  put 10, v4
  put 11, v5
  // Without a format nothing is bound: zeros, no store.
  s_mov_b32 s11, 0
  buffer_store_format_x v3, off, s[8:11], 0
  tbuffer_load_format_x v4, off, s[8:11], 0 format:[BUF_NUM_FORMAT_UINT]
  // Records of four bytes, the second one's highest byte; an index past the last one.
  s_or_b32 s13, s9, 4<<16
  s_mov_b32 s12, s8
  s_mov_b32 s14, 2
  s_mov_b32 s15, 1<<15 | 4<<12 | 4
  v_mov_b32 v2, 1
  v_mov_b32 v3, 3
  buffer_load_format_x v5, v[2:3], s[12:15], 0 idxen offen
  v_mov_b32 v6, 2
  buffer_load_format_x v6, v6, s[12:15], 0 idxen
  s_waitcnt vmcnt(0)
  put 12, v4
  put 13, v5
  put 14, v6
  // To LDS, at M0.
  s_mov_b32 m0, 16
  s_mov_b32 s15, 1<<15 | 2<<12 | 4
  v_mov_b32 v1, 0
  buffer_load_format_x v1, s[12:15], 0 idxen lds
  s_waitcnt vmcnt(0)
  ds_read_b32 v4, v30 offset:16
  s_waitcnt lgkmcnt(0)
  v_cvt_u32_f32 v4, v4
  put 15, v4
  // Stores: two halves, selects turned around, one component of four, 16-bit registers.
  v_mov_b32 v4, 0.5
  v_mov_b32 v5, 1.0
  s_mov_b32 s11, 3<<15 | 4 | 5<<3
  buffer_store_format_xy v[4:5], off, s[8:11], 0 offset:64
  s_mov_b32 s11, 3<<15 | 5 | 4<<3
  v_mov_b32 v4, 1.0
  v_mov_b32 v5, 0
  buffer_store_format_xy v[4:5], off, s[8:11], 0 offset:68
  s_waitcnt vmcnt(0)
  v_mov_b32 v6, 0x8000
  global_load_dword v7, v6, s[6:7] offset:64
  global_load_dword v8, v6, s[6:7] offset:68
  s_waitcnt vmcnt(0)
  put 16, v7
  put 17, v8
  v_mov_b32 v9, 0x00ff0033
  tbuffer_store_format_d16_xy v9, off, s[8:11], 0 format:[BUF_DATA_FORMAT_8_8_8_8,BUF_NUM_FORMAT_UINT] offset:72
  s_waitcnt vmcnt(0)
  global_load_dword v7, v6, s[6:7] offset:72
  s_waitcnt vmcnt(0)
  put 18, v7
  global_load_dword v7, v6, s[6:7]
  s_waitcnt vmcnt(0)
  put 19, v7
  // The high half of a register; stride bits beyond 14 with the lane in the address.
  v_mov_b32 v9, 0x00340000
  s_mov_b32 s11, 1<<15 | 4<<12 | 4
  buffer_store_format_d16_hi_x v9, off, s[8:11], 0 offset:72
  s_waitcnt vmcnt(0)
  global_load_ubyte v7, v6, s[6:7] offset:72
  s_waitcnt vmcnt(0)
  put 20, v7
  // Floats of halves.
  v_mov_b32 v9, 0x3c00
  tbuffer_store_format_d16_x v9, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT] offset:72
  s_waitcnt vmcnt(0)
  tbuffer_load_format_x v7, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT] offset:72
  s_waitcnt vmcnt(0)
  put 21, v7
kernel_end lds=64
