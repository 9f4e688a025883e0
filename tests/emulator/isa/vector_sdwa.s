// CLEAN
// OUT 0 = 0xaa
// OUT 1 = 0x00ab0000
// OUT 2 = 0x1122aa44
// OUT 3 = 0xffffffaa
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v1, 0x0011aa33
  v_mov_b32_sdwa v2, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1
  put 0, v2
  v_mov_b32_e32 v3, 1
  v_add_u32_sdwa v2, v1, v3 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
  put 1, v2
  v_mov_b32_e32 v2, 0x11223344
  v_mov_b32_sdwa v2, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1
  put 2, v2
  v_add_u32_sdwa v2, sext(v1), v30 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD
  put 3, v2
kernel_end
