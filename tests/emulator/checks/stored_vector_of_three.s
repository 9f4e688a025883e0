// Vectors of three elements of one, two and four bytes, stored as four: the fourth is anything.
// TARGET: gfx942 gfx950
// CLEAN
// OUT 0 = 5
.include "kernel.inc"
.include "checks/stores_of_three.inc"
kernel_begin
  stores_of_three
kernel_end
