.include "micro.inc"
// A flat load: VALUE 0 from memory that L1 holds, 1 from the LDS.
begin
  v_and_b32_e32 v1, 63, v0
  v_lshlrev_b32_e32 v2, 2, v1
  .if VALUE
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32_e32 v3, s9
  .else
  v_mov_b32_e32 v3, s5
  v_add_u32_e32 v2, s4, v2
  .endif
.rept REPEAT
  flat_load_dword v4, v[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)
.endr
end
