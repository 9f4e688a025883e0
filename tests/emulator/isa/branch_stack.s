// Forks and joins: the smaller part of the lanes goes first, the other waits on the stack in s[0:7];
// nested, uniform both ways, with relative and absolute targets. A join leaves EXEC to the program.
// TARGET: gfx942 gfx950
// BLOCK: 64
// CLEAN
// OUT 0 = 0x101
// OUT 1 = 0x1
// OUT 2 = 0x10
// OUT 63 = 0x10
// OUT 64 = 6
// OUT 65 = 5
// OUT 80 = 20
// OUT 81 = 10
// OUT 82 = 0
.include "kernel.inc"
kernel_begin
  // The stack takes s0 and up.
  s_mov_b64 s[20:21], s[6:7]
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0
  s_mov_b32 s30, 0
  s_mov_b32 s31, 0
  s_mov_b32 s32, 0
  v_cmp_gt_u32 s[10:11], 2, v0
  v_cmp_eq_u32 s[12:13], 0, v0
  s_getreg_b32 s14, hwreg(HW_REG_MODE, 29, 3)
  s_mov_b64 s[36:37], exec
  s_nop 4
  // Two lanes pass, 62 fail: those that pass go first.
  s_cbranch_i_fork s[10:11], passes
fails:
  v_mov_b32 v1, 0x10
  s_bcnt1_i32_b64 s16, exec
  s_lshl_b32 s30, s30, 1
  s_add_u32 s30, s30, 2
  s_branch joins
passes:
  v_or_b32 v1, 1, v1
  s_add_u32 s30, s30, 2
  // Nested: one each; a tie lets those that pass go first.
  s_getreg_b32 s15, hwreg(HW_REG_MODE, 29, 3)
  s_mov_b64 s[38:39], exec
  s_getpc_b64 s[18:19]
base:
  s_add_u32 s18, s18, inner - base
  s_addc_u32 s19, s19, 0
  s_cbranch_g_fork s[12:13], s[18:19]
  s_add_u32 s31, s31, 1
  s_mul_i32 s31, s31, 5
  s_branch inner_joins
inner:
  v_or_b32 v1, 0x100, v1
inner_joins:
  s_cbranch_join s15
  s_mov_b64 exec, s[38:39]
joins:
  s_cbranch_join s14
  s_mov_b64 exec, s[36:37]
  global_store_dword v29, v1, s[20:21]
  v_mov_b32 v30, 0
  s_mov_b64 s[6:7], s[20:21]
  put 64, s30
  put 65, s31
  // All pass, none passes.
  s_mov_b32 s33, 0
  s_cbranch_i_fork exec, over
  s_add_u32 s33, s33, 1
over:
  s_add_u32 s33, s33, 20
  put 80, s33
  s_mov_b64 s[34:35], 0
  s_mov_b32 s33, 0
  s_cbranch_i_fork s[34:35], never
  s_add_u32 s33, s33, 10
never:
  put 81, s33
  s_getreg_b32 s33, hwreg(HW_REG_MODE, 29, 3)
  put 82, s33
  s_setkill 0
kernel_end
