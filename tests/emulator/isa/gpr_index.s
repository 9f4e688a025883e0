// VGPR indexing: M0 moves sources and destinations, which ones the mask says (CDNA3 ISA 6.6).
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 12
// OUT 1 = 77
// OUT 2 = 13
// OUT 3 = 11
// OUT 4 = 25
// OUT 5 = 65
// OUT 6 = 122
// OUT 7 = 135
// OUT 8 = 13
// OUT 9 = 12
// OUT 10 = 55
// OUT 11 = 1
// OUT 12 = 11
// OUT 13 = 0x9002
// OUT 14 = 1
// OUT 15 = 13
// OUT 16 = 0x000d000c
// OUT 17 = 11
// OUT 18 = 0x5d000b00
// OUT 19 = 12
// OUT 20 = 13
// OUT 21 = 123
// OUT 22 = 0x41500000
.include "kernel.inc"
kernel_begin
  v_mov_b32 v10, 10
  v_mov_b32 v11, 11
  v_mov_b32 v12, 12
  v_mov_b32 v13, 13
  v_mov_b32 v20, 0
  v_mov_b32 v21, 0
  v_mov_b32 v22, 0
  s_mov_b32 s10, 2
  // Source 0.
  s_set_gpr_idx_on s10, gpr_idx(SRC0)
  v_mov_b32 v1, v10
  s_set_gpr_idx_off
  put 0, v1
  // Destination; memory instructions do not move.
  s_set_gpr_idx_on s10, gpr_idx(DST)
  v_mov_b32 v20, 77
  s_set_gpr_idx_off
  put 1, v22
  // The index alone, then the mask alone.
  s_set_gpr_idx_on s10, gpr_idx(SRC0)
  s_set_gpr_idx_idx 3
  v_mov_b32 v1, v10
  s_set_gpr_idx_mode gpr_idx(SRC1)
  v_subrev_u32 v2, 0, v8
  s_set_gpr_idx_off
  put 2, v1
  put 3, v2
  // Long form, sources 1 and 2: 1 * v12 + v13.
  s_set_gpr_idx_on s10, gpr_idx(SRC1,SRC2)
  v_mad_u32_u24 v1, 1, v10, v11
  s_set_gpr_idx_off
  put 4, v1
  // What accumulates reads and writes where the destination is moved to.
  v_mov_b32 v22, 5
  v_cvt_f32_u32 v22, v22
  v_cvt_f32_u32 v3, v12
  v_mov_b32 v4, 0x40a00000
  s_set_gpr_idx_on s10, gpr_idx(DST)
  v_fmac_f32 v20, v3, v4
  s_set_gpr_idx_off
  v_cvt_u32_f32 v1, v22
  put 5, v1
  // v_fmaak moves as source 1, v_fmamk as source 2.
  v_cvt_f32_u32 v5, v10
  v_cvt_f32_u32 v6, v11
  v_cvt_f32_u32 v7, v12
  s_set_gpr_idx_on s10, gpr_idx(SRC1)
  v_fmaak_f32 v1, v5, v5, 0x40000000
  s_set_gpr_idx_mode gpr_idx(SRC2)
  v_fmamk_f32 v2, v6, 0x41300000, v5
  s_set_gpr_idx_off
  v_add_f32 v2, 2.0, v2
  v_cvt_u32_f32 v1, v1
  v_cvt_u32_f32 v2, v2
  put 6, v1
  put 7, v2
  // Across lanes.
  s_set_gpr_idx_on 3, gpr_idx(SRC0)
  v_readfirstlane_b32 s11, v10
  v_readlane_b32 s12, v9, 5
  s_set_gpr_idx_off
  s_nop 4
  v_mov_b32 v1, s11
  put 8, v1
  v_mov_b32 v1, s12
  put 9, v1
  s_mov_b32 s13, 55
  s_set_gpr_idx_on 3, gpr_idx(DST)
  v_writelane_b32 v18, s13, 0
  s_set_gpr_idx_off
  s_nop 1
  v_readfirstlane_b32 s13, v21
  put 10, s13
  // Compares write no VGPR; their sources move.
  s_set_gpr_idx_on 1, gpr_idx(SRC0,SRC1)
  v_cmp_eq_u32 vcc, 11, v10
  s_set_gpr_idx_off
  s_nop 4
  v_cndmask_b32 v1, 0, 1, vcc
  put 11, v1
  // Turned on by writing MODE.
  s_mov_b32 m0, 0x9002
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1
  v_mov_b32 v18, v9
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0
  put 12, v20
  s_mov_b32 s14, m0
  put 13, s14
  s_set_gpr_idx_on s10, gpr_idx()
  s_getreg_b32 s15, hwreg(HW_REG_MODE, 27, 1)
  s_set_gpr_idx_off
  put 14, s15
  // 64-bit operands and packed math.
  v_mov_b32 v14, 0
  s_set_gpr_idx_on s10, gpr_idx(SRC1)
  v_lshrrev_b64 v[16:17], 32, v[10:11]
  s_set_gpr_idx_off
  put 15, v16
  v_lshl_or_b32 v15, v13, 16, v12
  s_set_gpr_idx_on 4, gpr_idx(SRC0)
  v_pk_add_u16 v16, v11, v14
  s_set_gpr_idx_off
  put 16, v16
  // DPP, and SDWA that keeps the rest of its destination.
  s_set_gpr_idx_on 1, gpr_idx(SRC0)
  v_mov_b32_dpp v1, v10 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
  s_set_gpr_idx_off
  put 17, v1
  v_mov_b32 v22, 0x5d000000
  s_nop 1
  s_set_gpr_idx_on 2, gpr_idx(DST)
  v_mov_b32_sdwa v20, v11 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0
  s_set_gpr_idx_off
  put 18, v22
  // Both sides of a swap.
  v_mov_b32 v20, v12
  v_mov_b32 v22, v13
  s_set_gpr_idx_on 2, gpr_idx(SRC0,DST)
  v_swap_b32 v18, v20
  s_set_gpr_idx_off
  put 19, v22
  put 20, v20
  // The index survives a branch, a call and a loop.
  v_mov_b32 v1, 100
  s_mov_b32 s16, 2
loop:
  s_set_gpr_idx_on s16, gpr_idx(SRC0)
  s_branch over
over:
  v_add_u32 v1, v9, v1
  s_set_gpr_idx_off
  s_sub_u32 s16, s16, 1
  s_cmp_lg_u32 s16, 0
  s_cbranch_scc1 loop
  v_add_u32 v1, 2, v1
  put 21, v1
  // A matrix instruction's registers move too.
  v_mov_b32 v8, 0
  v_mov_b32 v9, 0
  v_mov_b32 v16, 1.0
  v_mov_b32 v24, 0x41500000
  v_mov_b32 v25, v24
  v_mov_b32 v26, v24
  v_mov_b32 v27, v24
  s_nop 1
  s_set_gpr_idx_on 2, gpr_idx(SRC2)
  v_mfma_f32_16x16x4_f32 v[0:3], v8, v9, v[22:25]
  s_set_gpr_idx_off
  s_nop 15
  put 22, v0
kernel_end
