// A flat store to scratch or LDS keeps undefined bytes as a scratch or LDS store does; to device
// memory it loses them.
// FAULT: uninitialised stores v5
// OUT 0 = 7
.include "kernel.inc"
kernel_begin
  s_mov_b64 exec, 1
  v_mov_b32_e32 v4, 7
  s_mov_b64 s[8:9], src_private_base
  v_mov_b32_e32 v2, 8
  v_mov_b32_e32 v3, s9
  flat_store_dwordx2 v[2:3], v[4:5]
  flat_load_dwordx2 v[6:7], v[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32_e32 v3, s9
  flat_store_dwordx2 v[2:3], v[6:7]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  flat_load_dwordx2 v[8:9], v[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  put 0, v8
  v_mov_b32_e32 v2, s6
  v_mov_b32_e32 v3, s7
  flat_store_dwordx2 v[2:3], v[4:5] offset:8
kernel_end scratch=16, lds=16
