// A load four bytes past the input buffer.
// FAULT: memory load of 4 bytes
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 0x1000
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
kernel_end
