// Every workgroup stores its own number to the same place.
// GRID: 4
// FAULT: races writes memory at
// FAULT: races which workgroup 0,0,0 wave 0 writes by global_store_dword at +
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, s2
  global_store_dword v29, v1, s[6:7]
kernel_end
