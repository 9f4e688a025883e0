// AGPRs are the upper part of one file; memory and matrix instructions reach them directly.
// TARGET: gfx942 gfx950
// CLEAN
// OUT 0 = 7
// OUT 64 = 0x41000000
// OUT 128 = 0
// OUT 130 = 2
.include "kernel.inc"
kernel_begin
  v_accvgpr_write_b32 a3, 7
  s_nop 1
  v_accvgpr_read_b32 v2, a3
  putv 0, v2
  v_mov_b32_e32 v4, 0x3f803f80
  v_mov_b32_e32 v5, 0x3f803f80
  s_nop 1
  v_mfma_f32_32x32x8_bf16 a[0:15], v[4:5], v[4:5], 0
  s_nop 15
  v_accvgpr_read_b32 v2, a0
  putv 1, v2
  global_load_dword a5, v29, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v29, a5, s[6:7] offset:512
kernel_end vgprs=64
