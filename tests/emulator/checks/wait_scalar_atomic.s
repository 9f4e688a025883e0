// The result of a scalar atomic is used before it is there.
// BLOCK: 64
// FAULT: waits reads s20, which is the destination of s_atomic_add
.include "kernel.inc"
kernel_begin
  s_mov_b32 s20, 0
  s_store_dword s20, s[6:7], 0x0
  s_atomic_add s20, s[6:7], 0x0 glc
  s_add_u32 s21, s20, 1
  s_waitcnt lgkmcnt(0)
kernel_end
