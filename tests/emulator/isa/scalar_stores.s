// Scalar stores, atomics with and without their result, buffers with range checks, scratch.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 11
// OUT 1 = 22
// OUT 2 = 33
// OUT 3 = 44
// OUT 4 = 55
// OUT 5 = 66
// OUT 8 = 0x77
// OUT 9 = 10
// OUT 10 = 110
// OUT 11 = 120
// OUT 12 = 3
// OUT 13 = 3
// OUT 14 = 0x80000005
// OUT 15 = 0x80000005
// OUT 16 = 12
// OUT 17 = 14
// OUT 18 = 2
// OUT 19 = 0
// OUT 20 = 9
// OUT 21 = 100
// OUT 22 = 110
// OUT 24 = 1
// OUT 25 = 2
// OUT 26 = 0
// OUT 27 = 1
// OUT 28 = 0x1000
// OUT 29 = 0x3456
// OUT 30 = 0x99
// OUT 32 = 1
// OUT 33 = 2
// OUT 34 = 3
// OUT 35 = 4
// OUT 36 = 8
// OUT 37 = 2
// OUT 38 = 3
// OUT 39 = 4
.include "kernel.inc"
.macro atomic_result at
  s_waitcnt lgkmcnt(0)
  put \at, s20
.endm
kernel_begin
  // s[8:11] is out as a buffer of 24 bytes.
  s_mov_b64 s[8:9], s[6:7]
  s_mov_b32 s10, 24
  s_mov_b32 s11, 0x20000
  s_mov_b32 s12, 11
  s_mov_b32 s13, 22
  s_mov_b32 s14, 33
  s_mov_b32 s15, 44
  s_mov_b32 m0, 16
  s_store_dwordx4 s[12:15], s[6:7], 0x0
  s_mov_b32 s12, 55
  s_mov_b32 s13, 66
  s_buffer_store_dwordx2 s[12:13], s[8:11], m0
  // Beyond the buffer: nothing. One dword of two is inside.
  s_mov_b32 s12, 0x66
  s_buffer_store_dword s12, s[8:11], 0x18
  s_mov_b32 s12, 66
  s_mov_b32 s13, 0x13
  s_buffer_store_dwordx2 s[12:13], s[8:11], 0x14
  s_dcache_wb
  s_dcache_discard s[6:7], 0x1000
  s_dcache_discard_x2 s[6:7], m0
  s_atc_probe 1, s[6:7], 0x0
  s_atc_probe_buffer 1, s[8:11], 0x0
  // Atomics on dword 512.
  s_mov_b32 s20, 0x77
  s_store_dword s20, s[6:7], 0x800
  s_mov_b32 s20, 10
  s_atomic_swap s20, s[6:7], 0x800 glc
  atomic_result 8
  s_mov_b32 s20, 100
  s_atomic_add s20, s[6:7], 0x800 glc
  atomic_result 9
  s_mov_b32 s20, 10
  s_atomic_add s20, s[6:7], 0x800
  s_atomic_sub s20, s[6:7], 0x800 glc
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s20, s20, 0
  put 11, s20
  s_mov_b32 s20, 0
  s_atomic_or s20, s[6:7], 0x800 glc
  atomic_result 10
  s_mov_b32 s20, 3
  s_atomic_umin s20, s[6:7], 0x800
  s_mov_b32 s20, -1
  s_atomic_and s20, s[6:7], 0x800 glc
  atomic_result 12
  s_mov_b32 s20, 0x80000005
  s_atomic_smax s20, s[6:7], 0x800
  s_atomic_umax s20, s[6:7], 0x800 glc
  atomic_result 13
  s_mov_b32 s20, 0
  s_atomic_smin s20, s[6:7], 0x800 glc
  atomic_result 14
  s_mov_b32 s20, 0x80000009
  s_atomic_xor s20, s[6:7], 0x800 glc
  atomic_result 15
  // Now 12. A swap when equal, then one that is not.
  s_mov_b32 s20, 14
  s_mov_b32 s21, 12
  s_atomic_cmpswap s[20:21], s[6:7], 0x800 glc
  atomic_result 16
  s_mov_b32 s20, 99
  s_mov_b32 s21, 12
  s_atomic_cmpswap s[20:21], s[6:7], 0x800 glc
  atomic_result 17
  s_mov_b32 s20, 2
  s_atomic_swap s20, s[6:7], 0x800
  s_mov_b32 s20, 2
  s_atomic_inc s20, s[6:7], 0x800 glc
  atomic_result 18
  s_mov_b32 s20, 9
  s_atomic_dec s20, s[6:7], 0x800 glc
  atomic_result 19
  s_mov_b32 s20, 0
  s_atomic_add s20, s[6:7], 0x800 glc
  atomic_result 20
  // Eight bytes; buffers, inside and beyond.
  s_mov_b32 s20, 100
  s_mov_b32 s21, 0
  s_store_dwordx2 s[20:21], s[6:7], 0x808
  s_mov_b32 s20, 10
  s_atomic_add_x2 s[20:21], s[6:7], 0x808 glc
  atomic_result 21
  s_mov_b32 s20, 1
  s_mov_b32 s21, 2
  s_mov_b32 s22, 110
  s_mov_b32 s23, 0
  s_atomic_cmpswap_x2 s[20:23], s[6:7], 0x808 glc
  atomic_result 22
  s_load_dwordx2 s[20:21], s[6:7], 0x808
  s_waitcnt lgkmcnt(0)
  put 24, s20
  put 25, s21
  s_mov_b32 s20, 5
  s_buffer_atomic_add s20, s[8:11], 0x18 glc
  atomic_result 26
  s_movk_i32 s10, 0x1000
  s_mov_b32 s20, 5
  s_mov_b32 s21, 0
  s_buffer_atomic_add_x2 s[20:21], s[8:11], 0x808 glc
  atomic_result 27
  // Scratch interleaves lanes by dwords: lane 3's second dword lies at 64 * 4 + 3 * 4.
  v_lshlrev_b32 v1, 4, v0
  v_or_b32 v1, 0x1000, v1
  scratch_store_dword off, v1, off offset:4
  s_waitcnt vmcnt(0)
  s_mov_b64 s[24:25], flat_scratch
  s_scratch_load_dword s20, s[24:25], 0x100
  atomic_result 28
  s_mov_b32 s20, 0x3456
  s_mov_b32 s22, 4
  s_mov_b32 m0, 4
  s_scratch_store_dword s20, s[24:25], m0
  s_add_u32 s24, s24, 0x10c
  s_mov_b32 s20, 0x99
  s_scratch_store_dword s20, s[24:25], 0x0
  scratch_load_dword v2, off, off offset:4
  s_waitcnt vmcnt(0)
  s_nop 4
  v_readlane_b32 s20, v2, 0
  put 29, s20
  v_readlane_b32 s20, v2, 3
  put 30, s20
  // Several dwords are those of neighbouring lanes.
  s_mov_b64 s[24:25], flat_scratch
  s_mov_b32 s20, 1
  s_mov_b32 s21, 2
  s_mov_b32 s22, 3
  s_mov_b32 s23, 4
  s_scratch_store_dwordx4 s[20:23], s[24:25], 0x200
  s_scratch_load_dwordx2 s[12:13], s[24:25], 0x200
  scratch_load_dword v2, off, off offset:8
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_nop 4
  v_readlane_b32 s14, v2, 2
  v_readlane_b32 s15, v2, 3
  s_nop 1
  s_buffer_store_dwordx4 s[12:15], s[8:11], 0x80
  s_mov_b32 s12, 8
  s_scratch_store_dwordx2 s[12:13], s[24:25], 0x200
  s_scratch_load_dwordx4 s[20:23], s[24:25], 0x200
  s_waitcnt lgkmcnt(0)
  s_store_dwordx4 s[20:23], s[6:7], 0x90
kernel_end scratch=16
