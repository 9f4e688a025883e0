.include "micro.inc"
begin
.rept REPEAT
  global_load_dword v4, v30, s[4:5]
  s_add_u32 s4, s4, 0x80
  s_waitcnt vmcnt(0)
.endr
end
