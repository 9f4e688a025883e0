// Structured buffers, narrow loads, atomics and scratch.
// CLEAN
// OUT 0 = 0
// OUT 3 = 12
// OUT 64 = 0
// OUT 65 = 1
// OUT 68 = 0
// OUT 128 = 5
// OUT 131 = 5
// OUT 192 = 3
// OUT 195 = 6
// OUT 512 = 64
.include "kernel.inc"
kernel_begin
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, 0x00100000
  s_movk_i32 s10, 100
  s_mov_b32 s11, 0x20000
  buffer_load_dword v2, v0, s[8:11], 0 idxen
  s_waitcnt vmcnt(0)
  putv 0, v2
  global_load_ubyte v3, v0, s[4:5] offset:4
  global_load_ubyte v4, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_sub_u32_e32 v3, v3, v4
  v_and_b32_e32 v3, 3, v0
  v_cmp_eq_u32_e32 vcc, 1, v3
  s_nop 1
  v_cndmask_b32_e64 v3, 0, 1, vcc
  putv 1, v3
  v_mov_b32_e32 v5, 5
  scratch_store_dword off, v5, off offset:8
  scratch_load_dword v6, off, off offset:8
  s_waitcnt vmcnt(0)
  putv 2, v6
  v_add_u32_e32 v7, 3, v0
  scratch_store_dword off, v7, off
  scratch_load_dword v8, off, off
  s_waitcnt vmcnt(0)
  putv 3, v8
  v_mov_b32_e32 v9, 0
  v_mov_b32_e32 v10, 1
  global_store_dword v30, v9, s[6:7] offset:2048
  s_waitcnt vmcnt(0)
  global_atomic_add v30, v10, s[6:7] offset:2048
  s_waitcnt vmcnt(0)
kernel_end scratch=16
