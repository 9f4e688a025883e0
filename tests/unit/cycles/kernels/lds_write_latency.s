.include "micro.inc"
begin
  v_and_b32_e32 v1, 63, v0
  v_lshlrev_b32_e32 v1, 2, v1
.rept REPEAT
  ds_write_b32 v1, v4
  s_waitcnt lgkmcnt(0)
.endr
end
