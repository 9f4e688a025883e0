// FAULT: uninitialised EXEC becomes undefined
.include "kernel.inc"
kernel_begin
  v_cmp_lt_u32_e32 vcc, 3, v9
  s_and_saveexec_b64 s[8:9], vcc
kernel_end
