// FAULT: uninitialised the address in v9
.include "kernel.inc"
kernel_begin
  global_load_dword v2, v9, s[4:5]
  s_waitcnt vmcnt(0)
kernel_end
