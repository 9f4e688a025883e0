; The structurizer moves an instruction that costs nothing (here zext) out of case 3 into a block
; before it, and its value reaches the phi from case 2 alone, which falls through to case 3. Lanes that
; come to case 3 directly have poison, in registers whatever was there.
; Not kept out, see README.md.
; FLAGS: -mllvm -print-after=structurizecfg
; WRONG: phi i64 [ %wide, %two ]
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @f(ptr addrspace(1) %out, ptr addrspace(1) %in) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %at = getelementptr i32, ptr addrspace(1) %in, i32 %id
  %x = load i32, ptr addrspace(1) %at
  %case = and i32 %x, 7
  switch i32 %case, label %other [
    i32 0, label %zero
    i32 1, label %zero
    i32 2, label %two
    i32 3, label %three
  ]

zero:
  %a = load volatile i64, ptr addrspace(1) %in
  br label %end

two:
  store volatile i32 2, ptr addrspace(1) %out
  br label %three

three:
  %wide = zext i32 %x to i64
  br label %end

other:
  %b = load volatile i64, ptr addrspace(1) %in
  br label %end

end:
  %v = phi i64 [ %a, %zero ], [ %wide, %three ], [ %b, %other ]
  %to = getelementptr i64, ptr addrspace(1) %out, i32 %id
  store i64 %v, ptr addrspace(1) %to
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
