// LDS: two exchanges at once, counters of active lanes, addresses from M0 and the lane, ds_nop; and
// masked sums over byte windows with 32-bit results.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 0x100
// OUT 1 = 0x200
// OUT 2 = 0x11
// OUT 3 = 0x22
// OUT 4 = 0x300
// OUT 5 = 0x400
// OUT 6 = 0x500
// OUT 7 = 0x600
// OUT 8 = 0x33
// OUT 9 = 0x44
// OUT 10 = 0x55
// OUT 11 = 0x66
// OUT 12 = 7
// OUT 13 = 71
// OUT 14 = 73
// OUT 15 = 72
// OUT 16 = 0
// OUT 17 = 63
// OUT 18 = 20
// OUT 20 = 0x1007
// OUT 21 = 0x2003
// OUT 22 = 0x3004
// OUT 23 = 0x4009
// OUT 24 = 0x99
// OUT 25 = 0
.include "kernel.inc"
kernel_begin
  ds_nop
  v_mov_b32 v1, 0x100
  v_mov_b32 v2, 0x200
  v_mov_b32 v3, 0x11
  v_mov_b32 v4, 0x22
  s_mov_b64 s[10:11], exec
  s_mov_b64 exec, 1
  // Dwords at 8 and 20.
  ds_write2_b32 v30, v1, v2 offset0:2 offset1:5
  ds_wrxchg2_rtn_b32 v[6:7], v30, v3, v4 offset0:2 offset1:5
  ds_read2_b32 v[8:9], v30 offset0:2 offset1:5
  s_waitcnt lgkmcnt(0)
  put 0, v6
  put 1, v7
  put 2, v8
  put 3, v9
  // The element at 0 is not written before the exchange, the one at 64*4 is.
  v_mov_b32 v1, 0x300
  ds_write_b32 v30, v1 offset:256
  v_mov_b32 v2, 0x400
  ds_wrxchg2st64_rtn_b32 v[6:7], v30, v2, v3 offset0:0 offset1:1
  ds_read_b32 v8, v30
  s_waitcnt lgkmcnt(0)
  put 4, v7
  put 5, v8
  // Eight bytes each.
  v_mov_b32 v10, 0x500
  v_mov_b32 v11, 0x600
  v_mov_b32 v12, 0x33
  v_mov_b32 v13, 0x44
  v_mov_b32 v14, 0x55
  v_mov_b32 v15, 0x66
  ds_write_b64 v30, v[10:11] offset:512
  ds_write_b64 v30, v[10:11] offset:24
  ds_wrxchg2st64_rtn_b64 v[16:19], v30, v[12:13], v[14:15] offset0:1 offset1:2
  s_waitcnt lgkmcnt(0)
  put 6, v16
  put 7, v17
  ds_wrxchg2_rtn_b64 v[16:19], v30, v[12:13], v[14:15] offset0:3 offset1:4
  ds_read2_b64 v[20:23], v30 offset0:3 offset1:4
  s_waitcnt lgkmcnt(0)
  put 8, v20
  put 9, v21
  put 10, v22
  put 11, v23
  s_mov_b64 exec, s[10:11]
  // Counters, at M0 and the offset: 7, +64, then two lanes more, then one less.
  s_mov_b32 m0, 0
  v_mov_b32 v1, 7
  ds_write_b32 v30, v1 offset:60
  ds_append v2 offset:60
  s_waitcnt lgkmcnt(0)
  put 12, v2
  s_mov_b64 exec, 0x14
  ds_append v3 offset:60
  ds_read_b32 v4, v30 offset:60
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  ds_read_b32 v6, v30 offset:60
  s_mov_b32 m0, 0x10028
  s_nop 0
  ds_consume v5 offset:20
  ds_read_b32 v7, v30 offset:60
  s_waitcnt lgkmcnt(0)
  s_nop 4
  v_readlane_b32 s12, v3, 2
  put 13, s12
  put 14, v6
  put 15, v7
  s_mov_b64 exec, s[10:11]
  // M0 + lane * 4 + offset.
  s_mov_b32 m0, 0x10400
  s_nop 0
  ds_write_addtid_b32 v0 offset:16
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 2, v0
  ds_read_b32 v2, v1 offset:1040
  s_mov_b32 m0, 1060
  s_nop 0
  s_mov_b64 exec, 0xffff
  ds_read_addtid_b32 v3 offset:60
  s_waitcnt lgkmcnt(0)
  s_nop 4
  v_readlane_b32 s13, v3, 0
  s_mov_b64 exec, s[10:11]
  v_readlane_b32 s12, v2, 0
  v_readlane_b32 s14, v2, 63
  put 16, s12
  put 17, s14
  put 18, s13
  // Windows 01020304, 05010203, 00050102, 00000501 against 01010001: a zero byte does not count.
  v_mov_b32 v8, 0x01020304
  v_mov_b32 v9, 0x00000005
  v_mov_b32 v10, 0x01010001
  v_mov_b32 v12, 0x1003
  v_mov_b32 v13, 0x1ffd
  v_mov_b32 v14, 0x2ffe
  v_mov_b32 v15, 0x4007
  v_mqsad_u32_u8 v[16:19], v[8:9], v10, v[12:15]
  put 20, v16
  put 21, v17
  put 22, v18
  put 23, v19
  // It may overwrite its own sources.
  v_mov_b32 v16, 0
  v_mov_b32 v17, 0
  v_mov_b32 v18, 0x99
  v_mov_b32 v19, 0
  v_mov_b32 v20, 0
  v_mqsad_u32_u8 v[16:19], v[16:17], v20, v[16:19]
  put 24, v18
  put 25, v16
kernel_end lds=2048
