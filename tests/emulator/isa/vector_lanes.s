// Lane crossing: DPP, readlane, mbcnt and masks.
// CLEAN
// OUT 0 = 0xffffffff
// OUT 1 = 0
// OUT 16 = 0xffffffff
// OUT 64 = 3
// OUT 67 = 0
// OUT 128 = 0xffffffff
// OUT 144 = 15
// OUT 192 = 5
// OUT 208 = 21
// OUT 256 = 0
// OUT 319 = 63
// OUT 320 = 7
// OUT 325 = 99
.include "kernel.inc"
kernel_begin
  v_mov_b32_e32 v2, -1
  s_nop 1
  v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf
  putv 0, v2
  v_mov_b32_dpp v3, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
  putv 1, v3
  v_mov_b32_e32 v4, -1
  s_nop 1
  v_mov_b32_dpp v4, v0 row_bcast:15 row_mask:0xa bank_mask:0xf
  putv 2, v4
  v_mov_b32_dpp v5, v0 row_newbcast:5 row_mask:0xf bank_mask:0xf
  putv 3, v5
  v_mbcnt_lo_u32_b32 v6, -1, 0
  v_mbcnt_hi_u32_b32 v6, -1, v6
  putv 4, v6
  v_readlane_b32 s10, v0, 7
  s_nop 4
  v_mov_b32_e32 v7, s10
  s_movk_i32 s11, 99
  v_writelane_b32 v7, s11, 5
  putv 5, v7
kernel_end
