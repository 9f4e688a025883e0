// The same of scalar registers.
// FAULT: uninitialised global_store_dword
.include "kernel.inc"
kernel_begin
  s_load_dword s20, s[6:7], 0x0
  s_waitcnt lgkmcnt(0)
  s_xor_b32 s21, s20, s4
  s_load_dword s20, s[6:7], 0x400
  s_waitcnt lgkmcnt(0)
  s_xor_b32 s21, s21, s20
  put 0, s21
kernel_end
