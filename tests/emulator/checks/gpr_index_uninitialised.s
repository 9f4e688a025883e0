// Not the register that is named but the one that the index leads to was never written.
// BLOCK: 64
// FAULT: uninitialised stores v3, which was never fully written, to memory
.include "kernel.inc"
kernel_begin
  v_mov_b32 v10, 0
  v_mov_b32 v12, 0
  s_set_gpr_idx_on 1, gpr_idx(SRC0)
  v_mov_b32 v2, v11
  v_mov_b32 v3, v10
  s_set_gpr_idx_off
  global_store_dword v29, v2, s[6:7]
  global_store_dword v29, v3, s[6:7]
kernel_end
