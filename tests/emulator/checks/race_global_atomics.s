// Atomics do not race with each other.
// GRID: 4
// CLEAN
// OUT 0 = 256
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 1
  global_atomic_add v30, v1, s[6:7]
kernel_end
