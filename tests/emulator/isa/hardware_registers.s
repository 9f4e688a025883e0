// Hardware registers that a kernel may read: two waves, LDS and scratch allocated.
// BLOCK: 128
// CLEAN
// OUT 0 = 0xc
// OUT 1 = 0x10010801
// OUT 2 = 0
// OUT 3 = 0
// OUT 4 = 0x10
// OUT 5 = 4
// OUT 6 = 6
// OUT 7 = 3
// OUT 8 = 0x10002
// OUT 9 = 0
// OUT 10 = 0
// OUT 11 = 2
// OUT 12 = 1
// OUT 13 = 0
// OUT 14 = 0
.include "kernel.inc"
kernel_begin
  // Only the second wave stores.
  v_readfirstlane_b32 s8, v0
  s_cmp_lt_u32 s8, 64
  s_cbranch_scc1 end
  v_mov_b32 v30, 0
  v_mov_b32 v20, 0
  s_getreg_b32 s9, hwreg(HW_REG_MODE, 4, 4)
  put 0, s9
  // SCC, EXECZ and VCCZ clear but for SCC; in a group of waves, valid, with scratch.
  s_mov_b64 vcc, 1
  s_cmp_eq_u32 s8, s8
  s_getreg_b32 s9, hwreg(HW_REG_STATUS)
  put 1, s9
  s_getreg_b32 s9, hwreg(HW_REG_TRAPSTS)
  put 2, s9
  s_getreg_b32 s9, hwreg(HW_REG_HW_ID, 0, 4)
  put 3, s9
  s_getreg_b32 s9, hwreg(HW_REG_HW_ID)
  put 4, s9
  // Allocation: eights of VGPRs less one, sixteens of SGPRs less one, LDS in 512 bytes.
  s_getreg_b32 s9, hwreg(HW_REG_GPR_ALLOC, 8, 6)
  put 5, s9
  s_getreg_b32 s9, hwreg(HW_REG_GPR_ALLOC, 24, 4)
  put 6, s9
  s_getreg_b32 s9, hwreg(HW_REG_LDS_ALLOC, 12, 9)
  put 7, s9
  s_getreg_b32 s9, hwreg(HW_REG_SH_MEM_BASES)
  put 8, s9
  s_getreg_b32 s9, hwreg(HW_REG_TBA_LO)
  put 9, s9
  s_getreg_b32 s9, hwreg(HW_REG_XCC_ID)
  put 10, s9
  // Two loads and an LDS operation in flight.
  s_waitcnt vmcnt(0)
  global_load_dword v1, v30, s[4:5]
  global_load_dword v2, v30, s[4:5]
  ds_read_b32 v3, v20
  s_getreg_b32 s9, hwreg(HW_REG_IB_STS, 0, 4)
  s_getreg_b32 s10, hwreg(HW_REG_IB_STS, 8, 4)
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_getreg_b32 s11, hwreg(HW_REG_IB_STS)
  put 11, s9
  put 12, s10
  put 13, s11
  // Writing what is no shader state changes nothing.
  s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 4), 0
  s_setreg_imm32_b32 hwreg(HW_REG_HW_ID, 0, 4), 0
  s_getreg_b32 s9, hwreg(HW_REG_TRAPSTS)
  put 14, s9
end:
kernel_end vgprs=40, accum=40, lds=1100, scratch=16
