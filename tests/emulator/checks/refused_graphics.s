// What only graphics chips do.
// TARGET: gfx942 gfx950
// BLOCK: 64
// FAULT: memory v_screen_partition_4se_b32 belongs to graphics, which these chips do not have (0x7e026f00
.include "kernel.inc"
kernel_begin
  v_screen_partition_4se_b32 v1, v0
  s_endpgm_ordered_ps_done
kernel_end
