.include "micro.inc"
begin
  v_lshlrev_b32_e32 v1, 2, v0
  s_mov_b32 m0, 0
.rept REPEAT
  global_load_lds_dword v1, s[4:5]
  s_add_u32 s4, s4, 0x100
.endr
  s_waitcnt vmcnt(0)
end
