.include "micro.inc"
// Each workgroup of 256 copies REPEAT times 4 KiB; groups are 4 KiB x 32 apart.
begin
  s_lshl_b32 s8, s2, 17
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  s_add_u32 s6, s6, s8
  s_addc_u32 s7, s7, 0
  v_lshlrev_b32_e32 v1, 4, v0
.rept REPEAT / 8
  .irp reg, 4, 8, 12, 16, 20, 24, 32, 36
  global_load_dwordx4 v[\reg:\reg+3], v1, s[4:5]
  s_add_u32 s4, s4, 0x1000
  s_addc_u32 s5, s5, 0
  .endr
  .irp reg, 4, 8, 12, 16, 20, 24, 32, 36
  s_waitcnt vmcnt(7)
  global_store_dwordx4 v1, v[\reg:\reg+3], s[6:7]
  s_add_u32 s6, s6, 0x1000
  s_addc_u32 s7, s7, 0
  .endr
.endr
end
