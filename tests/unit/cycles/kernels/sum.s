.include "micro.inc"
// Work that grows with the workgroup: REPEAT * (1 + s2 % 8) matrix instructions.
begin
  s_and_b32 s8, s2, 7
  s_add_u32 s8, s8, 1
again:
.rept REPEAT
  mfma16
.endr
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 again
end
