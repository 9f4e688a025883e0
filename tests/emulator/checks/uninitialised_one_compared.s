// Of two registers that share their undefined bits it may be known that they differ.
// CLEAN
.include "kernel.inc"
kernel_begin
  v_xor_b32_e32 v3, 5, v2
  v_cmp_eq_u32_e32 vcc, v3, v2
  s_cbranch_vccnz .Lend
.Lend:
kernel_end
