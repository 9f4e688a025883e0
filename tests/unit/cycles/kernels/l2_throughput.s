.include "micro.inc"
// REPEAT wide loads of new lines by one wave per compute unit.
begin
  v_lshlrev_b32_e32 v1, 4, v0
.rept REPEAT
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_add_u32 s4, s4, 0x400
.endr
  s_waitcnt vmcnt(0)
end
