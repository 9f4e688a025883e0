// A report names the source lines of both accesses where the object has them.
// BLOCK: 128
// FAULT: races (kernels/k.cl:7:3)
// FAULT: races (source: kernels/k.cl:12)
.include "kernel.inc"
.file 1 "kernels" "k.cl"
kernel_begin
  v_xor_b32_e32 v2, 0x100, v29
  .loc 1 7 3
  ds_write_b32 v29, v0
  s_waitcnt lgkmcnt(0)
  .loc 1 12 0
  ds_read_b32 v3, v2
  .loc 1 13 0
  s_waitcnt lgkmcnt(0)
kernel_end lds=512
