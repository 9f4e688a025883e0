.include "micro.inc"
begin
.rept REPEAT
  v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]
.endr
end
