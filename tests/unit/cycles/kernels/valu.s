.include "micro.inc"
// One VALU instruction over and over; VALUE says which.
begin
.rept REPEAT
  .if VALUE == 0
  v_mul_f32_e32 v40, v41, v42
  .elseif VALUE == 1
  v_fma_f32 v40, v41, v42, v43
  .elseif VALUE == 2
  v_max_f32_e32 v40, v41, v42
  .elseif VALUE == 3
  v_max3_f32 v40, v41, v42, v43
  .elseif VALUE == 4
  v_cmp_lt_f32_e32 vcc, v41, v42
  .elseif VALUE == 5
  v_cndmask_b32_e32 v40, v41, v42, vcc
  .elseif VALUE == 6
  v_add_u32_e32 v40, v41, v42
  .elseif VALUE == 7
  v_perm_b32 v40, v41, v42, v43
  .elseif VALUE == 8
  v_pk_mul_f32 v[46:47], v[48:49], v[50:51]
  .elseif VALUE == 9
  v_pk_add_f32 v[46:47], v[48:49], v[50:51]
  .endif
.endr
end
