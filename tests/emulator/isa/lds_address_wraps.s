// A negative base with a positive offset: compilers fold constants like that.
// CLEAN
// OUT 0 = 63
// OUT 63 = 0
// OUT 64 = 63
// OUT 127 = 0
// OUT 128 = 164
// OUT 191 = 101
.include "kernel.inc"
kernel_begin
  ds_write_b32 v29, v0
  v_sub_u32_e32 v1, 0, v29
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v1 offset:252
  ds_read_u8 v3, v1 offset:252
  s_waitcnt lgkmcnt(0)
  putv 0, v2
  putv 1, v3
  v_mov_b32_e32 v4, 0x65
  ds_add_rtn_u32 v5, v1, v4 offset:252
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v6, v1 offset:252
  s_waitcnt lgkmcnt(0)
  putv 2, v6
  ds_write_b8 v1, v4 offset:252
  s_waitcnt lgkmcnt(0)
kernel_end lds=256
