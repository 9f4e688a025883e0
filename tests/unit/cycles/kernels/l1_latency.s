.include "micro.inc"
begin
.rept REPEAT
  global_load_dword v4, v30, s[4:5]
  s_waitcnt vmcnt(0)
.endr
end
