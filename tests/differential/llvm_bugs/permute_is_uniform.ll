; What ds_permute_b32 pushes to one lane of many is not the same in all lanes, even when value and
; address are; LLVM takes it for uniform and branches for all lanes at once.
; Kept out: the address of wave::Scatter is hidden from the compiler.
; WRONG: s_cbranch_vccz
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @f(ptr addrspace(1) %out, i32 %x) {
  %pushed = call i32 @llvm.amdgcn.ds.permute(i32 0, i32 %x)
  %some = icmp eq i32 %pushed, 0
  br i1 %some, label %then, label %end

then:
  store i32 1, ptr addrspace(1) %out
  br label %end

end:
  ret void
}
