.include "micro.inc"
begin
.rept REPEAT
  v_cvt_pk_fp8_f32 v40, v41, v42
.endr
end
