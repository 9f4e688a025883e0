.include "micro.inc"
begin
.rept REPEAT / 4
  v_mfma_f32_32x32x8_bf16 v[0:15], v[64:65], v[66:67], v[0:15]
  v_mfma_f32_32x32x8_bf16 v[16:31], v[64:65], v[66:67], v[16:31]
  v_mfma_f32_32x32x8_bf16 v[32:47], v[64:65], v[66:67], v[32:47]
  v_mfma_f32_32x32x8_bf16 v[48:63], v[64:65], v[66:67], v[48:63]
.endr
end
