// A format of a mixed matrix operand that does not exist.
// TARGET: gfx950
// BLOCK: 64
// FAULT: memory format 6 of a matrix operand is none of FP8, BF8, FP6, BF6 and FP4 (0 to 4)
.include "kernel.inc"
kernel_begin
  // v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3] cbsz:6
  .long 0xd3ad0600, 0x04022108
kernel_end
