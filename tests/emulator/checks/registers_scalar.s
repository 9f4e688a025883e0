// 32 SGPRs and what the hardware keeps behind them make 48.
// FAULT: registers uses s48 of a wave that owns 48
.include "kernel.inc"
kernel_begin
  s_mov_b32 s47, 1
  s_mov_b32 s48, 1
kernel_end sgprs=32
