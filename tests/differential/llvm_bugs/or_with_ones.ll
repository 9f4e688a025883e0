; The second element should become -1 and stays what it is.
; Kept out: the operands of a drawn disjunction of two 32-bit elements are hidden from the compiler.
; WRONG: v_mov_b32_e32 v1, v1
target triple = "amdgcn-amd-amdhsa"

define <2 x i32> @f(<2 x i32> %x) {
  %or = or <2 x i32> %x, <i32 1, i32 -1>
  ret <2 x i32> %or
}
