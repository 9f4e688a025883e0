.include "micro.inc"
// The address of each LDS read comes from the VALU instruction before it.
begin
  v_and_b32_e32 v1, 63, v0
  v_lshlrev_b32_e32 v1, 2, v1
.rept REPEAT
  v_add_u32_e32 v2, v30, v1
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
.endr
end
