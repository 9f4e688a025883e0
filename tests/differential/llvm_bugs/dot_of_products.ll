; Meant: (x*x + x) * (x*x) + x*y. The dot product of four bytes computes x*x + x*x + x*y + x.
; Kept out: products of single bytes are hidden from the compiler; those of vectors are not.
; WRONG: v_dot4_u32_u8
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @f(ptr addrspace(1) %out, ptr addrspace(1) %in) {
entry:
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i8, ptr addrspace(1) %in, i32 %id
  %x = load i8, ptr addrspace(1) %at
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = phi <2 x i32> [ zeroinitializer, %entry ], [ %w, %loop ]
  %w = insertelement <2 x i32> %v, i32 0, i32 %i
  %next = add nuw nsw i32 %i, 1
  %again = icmp eq i32 %i, 0
  br i1 %again, label %loop, label %end

end:
  %least = call i32 @llvm.vector.reduce.umin.v2i32(<2 x i32> %w)
  %square = mul i8 %x, %x
  %sum = add i8 %square, %x
  %y = trunc i32 %least to i8
  %product = mul i8 %x, %y
  %large = mul i8 %sum, %square
  %r = add i8 %product, %large
  %to = getelementptr i8, ptr addrspace(1) %out, i32 %id
  store i8 %r, ptr addrspace(1) %to
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.vector.reduce.umin.v2i32(<2 x i32>)
