.include "micro.inc"
// Wide loads (VALUE even) or stores (odd) by groups of 256. VALUE / 2: 0 all groups stay in the
// same 128 KiB, which L2 holds; 1 each group streams a part of its own; 2 groups of all XCDs stream
// the same four parts.
begin
  .if VALUE / 2 == 0
  s_mov_b32 s8, 0
  .elseif VALUE / 2 == 1
  s_lshl_b32 s8, s2, 17
  .else
  s_lshr_b32 s8, s2, 3
  s_and_b32 s8, s8, 3
  s_lshl_b32 s8, s8, 24
  .endif
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  s_add_u32 s6, s6, s8
  s_addc_u32 s7, s7, 0
  v_lshlrev_b32_e32 v1, 4, v0
  .if VALUE / 2 == 0
  .set COUNT, 32
  .else
  .set COUNT, 16
  .endif
  s_mov_b32 s9, REPEAT / COUNT
again:
  .if VALUE / 2 == 0
  v_lshlrev_b32_e32 v1, 4, v0
  .endif
.rept COUNT
  .if VALUE & 1
  global_store_dwordx4 v1, v[4:7], s[6:7]
  .else
  global_load_dwordx4 v[4:7], v1, s[4:5]
  .endif
  v_add_u32_e32 v1, 0x1000, v1
.endr
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_cbranch_scc1 again
end
