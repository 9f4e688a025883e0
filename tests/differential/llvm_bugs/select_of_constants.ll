; The conjunction with a constant is pulled into the select, through the bitcast: a select of two i64
; by a vector, which the verifier refuses. Nothing of the value is left, not even the store.
; Kept out: the random programs hide constants of bfloat16 vectors from the compiler.
; MISSING: global_store
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @f(ptr addrspace(1) %out) {
  %magnitude = tail call <4 x bfloat> @llvm.fabs.v4bf16(<4 x bfloat> <bfloat 0xRBF80, bfloat 0xR0080, bfloat 0xR7FC0, bfloat 0xRC0A0>)
  %bits = bitcast <4 x bfloat> %magnitude to <4 x i16>
  %nan = icmp ugt <4 x i16> %bits, splat (i16 32640)
  %tame = select <4 x i1> %nan, <4 x bfloat> splat (bfloat 0xR7FC0), <4 x bfloat> <bfloat 0xRBF80, bfloat 0xR0080, bfloat 0xR7FC0, bfloat 0xRC0A0>
  %wide = bitcast <4 x bfloat> %tame to i64
  %masked = and i64 %wide, 9223231297218904063
  store i64 %masked, ptr addrspace(1) %out
  ret void
}
