.include "micro.inc"
begin
.rept REPEAT
  v_pk_fma_f32 v[46:47], v[48:49], v[50:51], v[46:47]
.endr
end
