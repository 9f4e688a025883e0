.include "micro.inc"
// REPEAT passes over 32 KiB, twice the scalar cache: one group is one pass of 512 loads.
begin
  s_mov_b32 s8, REPEAT
pass:
  s_mov_b32 s9, 0
  .p2align 3
load:
  s_load_dword s10, s[4:5], s9
  s_add_u32 s9, s9, 64
  s_cmp_lg_u32 s9, 0x8000
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc1 load
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 pass
end
