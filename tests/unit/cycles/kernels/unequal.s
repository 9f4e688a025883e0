.include "micro.inc"
// Units of very different length, as a work list has them: REPEAT * (1 + (s2 % 8)^2) rounds of a
// load, an LDS exchange, matrix and vector work and a barrier.
begin
  v_lshlrev_b32_e32 v1, 4, v0
  s_lshl_b32 s8, s2, 14
  s_add_u32 s4, s4, s8
  s_addc_u32 s5, s5, 0
  s_and_b32 s8, s2, 7
  s_mul_i32 s8, s8, s8
  s_add_u32 s8, s8, 1
  s_mul_i32 s8, s8, REPEAT
again:
  global_load_dwordx4 v[4:7], v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b128 v1, v[4:7]
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b128 v[4:7], v1
  s_waitcnt lgkmcnt(0)
.rept 8
  mfma16
  repeat_alu 2
.endr
  repeat_exp 2
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 again
end
