// CLEAN
// OUT 0 = 0
// OUT 5 = 25
// OUT 64 = 0
// OUT 65 = 8
// OUT 128 = 63
// OUT 191 = 0
// OUT 192 = 1
// OUT 193 = 0
// OUT 256 = 10
// OUT 259 = 13
.include "kernel.inc"
kernel_begin
  v_mul_u32_u24_e32 v14, 5, v0
  v_mov_b32_e32 v15, v0
  v_lshlrev_b32_e32 v3, 3, v0
  ds_write_b64 v3, v[14:15]
  s_waitcnt lgkmcnt(0)
  ds_read2_b32 v[4:5], v3 offset1:1
  s_waitcnt lgkmcnt(0)
  putv 0, v4
  v_lshlrev_b32_e32 v6, 3, v5
  putv 1, v6
  v_sub_u32_e32 v7, 63, v0
  v_lshlrev_b32_e32 v7, 2, v7
  ds_bpermute_b32 v8, v7, v0
  s_waitcnt lgkmcnt(0)
  putv 2, v8
  ds_swizzle_b32 v9, v0 offset:swizzle(SWAP,1)
  s_waitcnt lgkmcnt(0)
  putv 3, v9
  v_mov_b32_e32 v10, 10
  ds_write_b32 v30, v10 offset:512
  v_mov_b32_e32 v11, 1
  ds_add_rtn_u32 v12, v30, v11 offset:512
  s_waitcnt lgkmcnt(0)
  putv 4, v12
kernel_end lds=1024
