.include "micro.inc"
begin
.rept REPEAT
  s_load_dword s8, s[4:5], 0x0
  s_add_u32 s4, s4, 0x80
  s_waitcnt lgkmcnt(0)
.endr
end
