// A register is undefined whatever constant an undefined one is combined with: it may be zero.
// FAULT: uninitialised branches on VCC
.include "kernel.inc"
kernel_begin
  v_xor_b32_e32 v3, 5, v2
  v_cmp_eq_u32_e32 vcc, 0, v3
  s_cbranch_vccnz .Lend
.Lend:
kernel_end
