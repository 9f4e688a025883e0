.include "micro.inc"
begin
.rept REPEAT
  v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]
.endr
end
