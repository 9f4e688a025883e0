.include "micro.inc"
begin
.rept REPEAT / 4
  v_mfma_f32_16x16x16_bf16 v[0:3], v[16:17], v[18:19], v[0:3]
  v_mfma_f32_16x16x16_bf16 v[4:7], v[16:17], v[18:19], v[4:7]
  v_mfma_f32_16x16x16_bf16 v[8:11], v[16:17], v[18:19], v[8:11]
  v_mfma_f32_16x16x16_bf16 v[12:15], v[16:17], v[18:19], v[12:15]
.endr
end
