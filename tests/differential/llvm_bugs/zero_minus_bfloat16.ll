; 0 - x becomes the conversion of -x, which is -0 for x = 0.
; Kept out: no constant zero of bfloat16 is drawn.
; TARGET: gfx950
; WRONG: v_cvt_pk_bf16_f32 v0, -v0
target triple = "amdgcn-amd-amdhsa"

define bfloat @f(bfloat %x) {
  %negative = fsub bfloat 0xR0000, %x
  ret bfloat %negative
}
