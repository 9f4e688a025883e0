.include "micro.inc"
begin
  v_and_b32_e32 v1, 63, v0
  v_mul_u32_u24_e32 v1, VALUE, v1
.rept REPEAT
  ds_read_b128 v[4:7], v1
  s_waitcnt lgkmcnt(0)
.endr
  s_waitcnt lgkmcnt(0)
end
