.include "micro.inc"
// Every workgroup of 256 reads the same REPEAT times 4 KiB, then twice 4 KiB of its own behind them.
begin
  v_lshlrev_b32_e32 v1, 4, v0
  s_lshl_b32 s8, s2, 13
  s_add_u32 s8, s8, REPEAT * 4096
  s_add_u32 s10, s4, s8
  s_addc_u32 s11, s5, 0
.rept REPEAT / 8
  .irp reg, 4, 8, 12, 16, 20, 24, 32, 36
  global_load_dwordx4 v[\reg:\reg+3], v1, s[4:5]
  s_add_u32 s4, s4, 0x1000
  s_addc_u32 s5, s5, 0
  .endr
  s_waitcnt vmcnt(0)
.endr
.irp reg, 4, 8
  global_load_dwordx4 v[\reg:\reg+3], v1, s[10:11]
  s_add_u32 s10, s10, 0x1000
  s_addc_u32 s11, s11, 0
.endr
  s_waitcnt vmcnt(0)
end
