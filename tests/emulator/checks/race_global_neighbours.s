// Bytes of one dword that belong to four workgroups.
// GRID: 4
// CLEAN
// OUT 0 = 0x03020100
// OUT 5 = 0x03020100
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, s2
  v_add_u32_e32 v2, s2, v29
  global_store_byte v2, v1, s[6:7]
kernel_end
