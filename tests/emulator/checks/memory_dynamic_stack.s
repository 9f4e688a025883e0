// A kernel that calls what its compiler does not know has 16 KiB of scratch beyond what it declares.
// FAULT: memory beyond the 16400 bytes
// OUT 0 = 7
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 7
  s_movk_i32 s8, 0x4000
  scratch_store_dword off, v1, s8 offset:12
  scratch_load_dword v2, off, s8 offset:12
  s_waitcnt vmcnt(0)
  put 0, v2
  scratch_store_dword off, v1, s8 offset:16
kernel_end scratch=16, dynamic=1
