.include "micro.inc"
// Independent matrix instructions, four accumulators; VALUE says which.
.macro one c, d
  .if VALUE == 0
  v_mfma_f32_32x32x8_bf16 v[\c:\d], v[64:65], v[66:67], v[\c:\d]
  .elseif VALUE == 1
  v_mfma_f32_32x32x16_fp8_fp8 v[\c:\d], v[64:65], v[66:67], v[\c:\d]
  .elseif VALUE == 2
  v_mfma_f32_32x32x2_f32 v[\c:\d], v64, v66, v[\c:\d]
  .elseif VALUE == 3
  v_mfma_f32_32x32x4_xf32 v[\c:\d], v[64:65], v[66:67], v[\c:\d]
  .elseif VALUE == 4
  v_mfma_f32_32x32x16_bf16 v[\c:\d], v[64:67], v[68:71], v[\c:\d]
  .elseif VALUE == 5
  v_mfma_f32_32x32x64_f8f6f4 v[\c:\d], v[64:71], v[72:79], v[\c:\d]
  .elseif VALUE == 6
  v_mfma_f32_32x32x64_f8f6f4 v[\c:\d], v[64:67], v[68:71], v[\c:\d] cbsz:4 blgp:4
  .endif
.endm
begin
.rept REPEAT / 4
  one 0, 15
  one 16, 31
  one 32, 47
  one 48, 63
.endr
end
