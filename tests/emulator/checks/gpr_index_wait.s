// The register that the index leads to is still being loaded.
// BLOCK: 64
// FAULT: waits reads v12, which is the destination of global_load_dword
.include "kernel.inc"
kernel_begin
  v_mov_b32 v10, 0
  global_load_dword v12, v29, s[4:5]
  s_set_gpr_idx_on 2, gpr_idx(SRC0)
  v_mov_b32 v1, v10
  s_set_gpr_idx_off
  s_waitcnt vmcnt(0)
kernel_end
