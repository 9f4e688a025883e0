// FAULT: alignment which is not a multiple of 4
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 2
  global_atomic_add v1, v0, s[6:7]
  s_waitcnt vmcnt(0)
kernel_end
