// FAULT: memory scalar load of 4 bytes at
.include "kernel.inc"
kernel_begin
  s_load_dword s8, s[4:5], 0x1000
  s_waitcnt lgkmcnt(0)
kernel_end
