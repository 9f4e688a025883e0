// A DMA into another wave's half is complete only after its wait and a barrier.
// BLOCK: 128
// FAULT: races after the write by global_load_lds_dword
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  v_and_b32_e32 v2, 0xc0, v0
  s_nop 0
  v_readfirstlane_b32 s8, v2
  s_lshl_b32 s8, s8, 2
  s_mov_b32 m0, s8
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  v_xor_b32_e32 v2, 0x100, v1
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt vmcnt(0) lgkmcnt(0)
kernel_end lds=512
