; The conversion writes one byte of %old, which is in v4; v5 holds nothing.
; Kept out: prelude/Convert.h looks at the byte alone.
; TARGET: gfx950
; WRONG: v_cvt_scalef32_sr_pk_fp4_f32 v5, v[0:1]
target triple = "amdgcn-amd-amdhsa"

define i32 @f(<2 x float> %values, i32 %noise, float %scale, i32 %old) {
  %new = call i32 @llvm.amdgcn.cvt.scalef32.sr.pk.fp4.f32(i32 %old, <2 x float> %values, i32 %noise, float %scale, i32 1)
  ret i32 %new
}
