// What only a trap handler does; the report has the words and the text.
// TARGET: gfx942 gfx950
// BLOCK: 64
// FAULT: memory s_rfe_b64 returns from a trap handler, and none runs here (0xbe801f14
.include "kernel.inc"
kernel_begin
  s_rfe_b64 s[20:21]
  s_rfe_restore_b64 s[20:21], s22
kernel_end
