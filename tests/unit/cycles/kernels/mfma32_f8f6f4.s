.include "micro.inc"
begin
.rept REPEAT
  v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15]
.endr
end
