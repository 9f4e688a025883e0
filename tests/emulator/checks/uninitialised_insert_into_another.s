// The register is undefined anew between the two xor: they no longer cancel.
// FAULT: uninitialised global_store_dword
.include "kernel.inc"
kernel_begin
  global_load_dword v2, v29, s[6:7]
  s_waitcnt vmcnt(0)
  v_xor_b32_e32 v3, v2, v0
  global_load_dword v2, v29, s[6:7] offset:1024
  s_waitcnt vmcnt(0)
  v_xor_b32_e32 v3, v3, v2
  global_store_dword v29, v3, s[6:7]
kernel_end
