.include "micro.inc"
begin
.rept REPEAT
  v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:19], v[20:23], v[0:15] cbsz:4 blgp:4
.endr
end
