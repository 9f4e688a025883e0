// The DMA that fills LDS runs on vmcnt.
// FAULT: waits reads LDS at 0x0, which an LDS DMA
.include "kernel.inc"
kernel_begin
  v_lshlrev_b32_e32 v1, 2, v0
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  ds_read_b32 v2, v1
  s_waitcnt vmcnt(0) lgkmcnt(0)
kernel_end lds=256
