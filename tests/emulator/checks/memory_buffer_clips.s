// Lanes beyond num_records read zero and store nothing; that is no fault.
// CLEAN
// OUT 0 = 0
// OUT 1 = 1
// OUT 2 = 0
// OUT 3 = 0
.include "kernel.inc"
kernel_begin
  s_mov_b64 s[8:9], s[4:5]
  s_mov_b32 s10, 8
  s_mov_b32 s11, 0x20000
  v_lshlrev_b32_e32 v1, 2, v0
  buffer_load_dword v2, v1, s[8:11], 0 offen
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[6:7]
kernel_end
