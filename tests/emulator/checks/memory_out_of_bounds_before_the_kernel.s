// A function that lies before the kernel: its distance from the kernel's entry is negative.
// FAULT: memory test-0xf8: global_load_dword
.include "kernel.inc"
  .text
  .p2align 8
helper:
  v_mov_b32_e32 v1, 0x1000
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_setpc_b64 s[30:31]
kernel_begin
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, helper@rel32@lo+4
  s_addc_u32 s9, s9, helper@rel32@hi+12
  s_swappc_b64 s[30:31], s[8:9]
kernel_end
