.include "micro.inc"
// Sixteen workgroups of 256 read the same REPEAT times 4 KiB; the next sixteen read others.
begin
  s_lshr_b32 s8, s2, 4
  s_lshl_b32 s8, s8, 17
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  v_lshlrev_b32_e32 v1, 4, v0
.rept REPEAT / 8
  .irp reg, 4, 8, 12, 16, 20, 24, 32, 36
  global_load_dwordx4 v[\reg:\reg+3], v1, s[4:5]
  s_add_u32 s4, s4, 0x1000
  s_addc_u32 s5, s5, 0
  .endr
  s_waitcnt vmcnt(0)
.endr
end
