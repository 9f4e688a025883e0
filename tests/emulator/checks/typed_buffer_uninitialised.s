// Of a typed store only the registers that the element takes count: the second is none of them, the
// first of the other store was never written.
// BLOCK: 64
// FAULT: uninitialised stores v6, which was never fully written, to memory
.include "kernel.inc"
kernel_begin
  s_mov_b64 s[8:9], s[6:7]
  s_mov_b32 s10, 4096
  s_mov_b32 s11, 0
  v_mov_b32 v4, 1.0
  v_lshlrev_b32 v1, 2, v0
  tbuffer_store_format_xy v[4:5], v1, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offen
  tbuffer_store_format_xy v[6:7], v1, s[8:11], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] offen
kernel_end
