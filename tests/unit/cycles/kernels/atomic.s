.include "micro.inc"
// VALUE bytes between the lanes' counters.
begin
  v_and_b32_e32 v1, 63, v0
  v_mul_u32_u24_e32 v1, VALUE, v1
  v_mov_b32_e32 v2, 1
.rept REPEAT
  global_atomic_add v3, v1, v2, s[4:5] sc0
  s_waitcnt vmcnt(0)
.endr
end
