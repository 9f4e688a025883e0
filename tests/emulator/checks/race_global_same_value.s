// Workgroups that store the same bytes may meet.
// GRID: 4
// CLEAN
// OUT 63 = 63
.include "kernel.inc"
kernel_begin
  global_store_dword v29, v0, s[6:7]
kernel_end
