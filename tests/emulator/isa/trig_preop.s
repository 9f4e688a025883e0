// 53 bits of 2/pi: segments, large arguments (which skip leading bits), those that are scaled up, bits
// past the 1201st, denormal results (truncated). Expected values from 2/pi to 1400 bits.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 0x6dc9c882
// OUT 1 = 0x3fe45f30
// OUT 2 = 0x9d5f47d4
// OUT 3 = 0x3c94a7f0
// OUT 4 = 0x6db14acc
// OUT 5 = 0x394a6ee0
// OUT 6 = 0x6dc9c882
// OUT 7 = 0x3fe45f30
// OUT 8 = 0xb727220a
// OUT 9 = 0x3fc17cc1
// OUT 10 = 0xdb62958
// OUT 11 = 0x39734ddc
// OUT 12 = 0x3f669e5f
// OUT 13 = 0x10374f46
// OUT 14 = 0xd9e839cf
// OUT 15 = 0x98f2f8b
// OUT 16 = 0xac06608
// OUT 17 = 0x161aba1
// OUT 18 = 0xf5f2f8bd
// OUT 19 = 0xb43dd63
// OUT 20 = 0x0
// OUT 21 = 0x0
// OUT 22 = 0x0
// OUT 23 = 0x0
// OUT 24 = 0x294a
// OUT 25 = 0x0
// OUT 26 = 0x1bf1ec
// OUT 27 = 0x0
.include "kernel.inc"
.macro trig low, high, segment, at
  v_mov_b32 v2, \low
  v_mov_b32 v3, \high
  v_trig_preop_f64 v[4:5], v[2:3], \segment
  put \at, v4
  put \at+1, v5
.endm
kernel_begin
  v_clrexcp
  trig 0x0, 0x3ff00000, 0, 0
  trig 0x0, 0x3ff00000, 1, 2
  trig 0x0, 0x3ff00000, 2, 4
  trig 0x0, 0x43500000, 0, 6
  trig 0x0, 0x43700000, 32, 8
  trig 0x0, 0x46600000, 1, 10
  trig 0x0, 0x7b000000, 0, 12
  trig 0x0, 0x7b100000, 2, 14
  trig 0xffffffff, 0x7fefffff, 3, 16
  trig 0x0, 0x7ff00000, 0, 18
  trig 0x1, 0x0, 22, 20
  trig 0x0, 0x0, 31, 22
  trig 0x0, 0x3ff00000, 20, 24
  trig 0x0, 0xffe00000, 4, 26
kernel_end
