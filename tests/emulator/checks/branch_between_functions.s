// Branches out of the kernel into another function, back from there, and in a called function to
// where it begins behind its entry: all of it is code.
// CLEAN
.include "kernel.inc"
  .text
  .p2align 8
before:
  s_add_u32 s12, s12, 1
  s_branch back
inner:
  s_sub_u32 s13, s13, 1
helper:
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 inner
  s_cbranch_scc0 .Lover
  s_trap 2
.Lover:
  s_setpc_b64 s[30:31]
kernel_begin
  s_mov_b32 s12, 0
  s_mov_b32 s13, 5
  s_branch before
back:
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, helper@rel32@lo+4
  s_addc_u32 s9, s9, helper@rel32@hi+12
  s_swappc_b64 s[30:31], s[8:9]
  s_cmp_eq_u32 s12, 1
  s_cbranch_scc1 .Lright
  s_trap 2
.Lright:
  s_cmp_eq_u32 s13, 0
  s_cbranch_scc1 .Lend
  s_trap 2
.Lend:
kernel_end
