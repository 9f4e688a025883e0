.include "micro.inc"
// REPEAT passes over 64 KiB: from HBM once, from L2 afterwards. One group is one pass of 512 loads.
begin
  s_mov_b32 s8, REPEAT
pass:
  s_mov_b32 s9, 512
  v_mov_b32_e32 v1, 0
  .p2align 3
load:
  global_load_dword v4, v1, s[4:5]
  v_add_u32_e32 v1, 0x80, v1
  s_sub_u32 s9, s9, 1
  s_cmp_lg_u32 s9, 0
  s_waitcnt vmcnt(0)
  s_cbranch_scc1 load
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 pass
end
