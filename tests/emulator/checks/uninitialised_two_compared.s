// Two undefined registers may be equal, also behind a bitwise operation.
// FAULT: uninitialised branches on VCC
.include "kernel.inc"
kernel_begin
  v_xor_b32_e32 v3, 5, v2
  v_cmp_eq_u32_e32 vcc, v3, v4
  s_cbranch_vccnz .Lend
.Lend:
kernel_end
