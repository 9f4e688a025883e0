.include "micro.inc"
begin
.rept REPEAT
  v_mfma_f32_32x32x8_bf16 v[0:15], v[64:65], v[66:67], v[0:15]
.endr
end
