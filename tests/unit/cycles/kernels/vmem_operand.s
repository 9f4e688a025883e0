.include "micro.inc"
// The address of each load comes from the VALU instruction before it; all hit L1.
begin
.rept REPEAT
  v_add_u32_e32 v2, v30, v30
  global_load_dword v4, v2, s[4:5]
  s_waitcnt vmcnt(0)
.endr
end
