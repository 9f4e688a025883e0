// HSA has the unaligned mode on: plain LDS reads and writes of any size may start at any byte.
// CLEAN
// OUT 0 = 0x00020000
// OUT 1 = 0x07060504
// OUT 2 = 0x04030201
// OUT 3 = 0x05040302
// OUT 4 = 0x0201
// OUT 5 = 0x04030201
// OUT 6 = 0x04030201
// OUT 7 = 0x04030201
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  v_mov_b32_e32 v2, 0x03020100
  v_mov_b32_e32 v3, 0x07060504
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  ds_write_b128 v30, v[2:5] offset:31
  ds_write_b64 v30, v[2:3] offset:3
  ds_write_b16 v30, v30 offset:3
  ds_write_b8 v30, v30 offset:6
  ds_read_b64 v[8:9], v30 offset:3
  ds_read_b32 v10, v30 offset:32
  ds_read_b96 v[12:14], v30 offset:33
  ds_read_u16 v15, v30 offset:32
  s_waitcnt lgkmcnt(0)
  put 0, v8
  put 1, v9
  put 2, v10
  put 3, v12
  put 4, v15
  ds_write2_b64 v30, v[2:3], v[2:3] offset0:2 offset1:3
  v_mov_b32_e32 v7, 1
  ds_read2_b32 v[16:17], v7 offset0:4 offset1:6
  ds_read2_b64 v[18:21], v7 offset0:1 offset1:2
  s_waitcnt lgkmcnt(0)
  put 5, v16
  put 6, v17
  put 7, v20
kernel_end lds=64
