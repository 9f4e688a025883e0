.include "micro.inc"
begin
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v4, v1, s[4:5]
  s_waitcnt vmcnt(0)
.rept REPEAT
  global_load_dword v4, v1, s[4:5]
.endr
end
