// A flat address of LDS beyond the workgroup's block.
// FAULT: memory store of 4 bytes at
.include "kernel.inc"
kernel_begin
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32_e32 v2, 0x200
  v_mov_b32_e32 v3, s9
  flat_store_dword v[2:3], v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
kernel_end lds=512
