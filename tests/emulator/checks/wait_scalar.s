// FAULT: waits reads s10
.include "kernel.inc"
kernel_begin
  s_load_dword s10, s[4:5], 0x0
  s_add_u32 s11, s10, 1
  s_waitcnt lgkmcnt(0)
kernel_end
