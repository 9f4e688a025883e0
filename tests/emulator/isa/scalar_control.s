// A loop, a call and the saving of EXEC.
// CLEAN
// OUT 0 = 45
// OUT 1 = 7
// OUT 64 = 1
// OUT 67 = 1
// OUT 68 = 2
.include "kernel.inc"
kernel_begin
  s_mov_b32 s10, 0
  s_mov_b32 s11, 0
1:
  s_add_u32 s10, s10, s11
  s_addk_i32 s11, 1
  s_cmpk_lt_u32 s11, 10
  s_cbranch_scc1 1b
  put 0, s10
  s_getpc_b64 s[12:13]
2:
  s_add_u32 s12, s12, 4f-2b
  s_addc_u32 s13, s13, 0
  s_swappc_b64 s[14:15], s[12:13]
  put 1, s16
  v_mov_b32_e32 v2, 2
  v_cmp_gt_u32_e32 vcc, 4, v0
  s_and_saveexec_b64 s[8:9], vcc
  s_cbranch_execz 3f
  v_mov_b32_e32 v2, 1
3:
  s_mov_b64 exec, s[8:9]
  putv 1, v2
  s_endpgm
4:
  s_mov_b32 s16, 7
  s_setpc_b64 s[14:15]
kernel_end
