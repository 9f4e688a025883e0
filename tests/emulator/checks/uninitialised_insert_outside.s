// What an insert leaves of an undefined register stays undefined.
// FAULT: uninitialised global_store_byte
.include "kernel.inc"
kernel_begin
  v_xor_b32_e32 v3, v2, v0
  v_and_b32_e32 v3, 0xff00, v3
  v_xor_b32_e32 v3, v3, v2
  global_store_byte v29, v3, s[6:7]
kernel_end
