.include "micro.inc"
begin
.rept REPEAT
  s_load_dword s8, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
.endr
end
