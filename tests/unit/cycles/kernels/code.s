.include "micro.inc"
// REPEAT rounds through VALUE instructions of 4 bytes.
begin
  s_mov_b32 s8, REPEAT
again:
.rept VALUE
  v_add_f32_e32 v40, v41, v42
.endr
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc0 out
  s_getpc_b64 s[10:11]
back:
  s_sub_u32 s10, s10, back - again
  s_subb_u32 s11, s11, 0
  s_setpc_b64 s[10:11]
out:
end
