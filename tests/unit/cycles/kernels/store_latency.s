.include "micro.inc"
begin
.rept REPEAT
  global_store_dword v30, v4, s[6:7]
  s_waitcnt vmcnt(0)
.endr
end
