// A mask of lanes of which only those that are on were ever set, kept in a lane of a register, copied
// to an AGPR, to scratch and back: the bits that are defined stay defined, and no others become so.
// FAULT: uninitialised EXEC becomes undefined
// OUT 0 = 7
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 7
  s_or_b64 s[8:9], s[10:11], exec
  v_writelane_b32 v1, s8, 5
  s_mov_b64 exec, -1
  v_accvgpr_write_b32 a0, v1
  v_accvgpr_read_b32 v2, a0
  scratch_store_dword off, v2, off
  scratch_load_dword v3, off, off
  s_waitcnt vmcnt(0)
  v_readlane_b32 s12, v3, 5
  s_mov_b32 s13, 0
  s_mov_b64 exec, 7
  s_nop 4
  s_and_b64 exec, exec, s[12:13]
  v_mov_b32_e32 v4, exec_lo
  s_mov_b64 exec, 1
  put 0, v4
  s_mov_b64 exec, 15
  s_nop 4
  s_and_b64 exec, exec, s[12:13]
kernel_end vgprs=40, scratch=16
