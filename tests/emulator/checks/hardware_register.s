// A hardware register that the chip does not have.
// BLOCK: 64
// FAULT: registers hardware register 29 does not exist on gfx942
.include "kernel.inc"
kernel_begin
  s_getreg_b32 s9, hwreg(29)
kernel_end
