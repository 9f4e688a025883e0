// Hidden arguments of code object v4, in the order below; no dispatch has an offset or a remainder.
// BLOCK: 64
// CLEAN
// OUT 0 = 0x0   global_offset_x
// OUT 1 = 0x0   global_offset_y
// OUT 2 = 0x0   global_offset_z
// OUT 3 = 0x0   default_queue
// OUT 4 = 0x0   completion_action
// OUT 5 = 0x0   multigrid_sync_arg
// OUT 6 = 0x0   printf buffer: used
// OUT 7 = 0x1   printf buffer: has room
.amdhsa_code_object_version 4
.include "kernel.inc"
kernel_begin
  s_load_dword s30, s[0:1], 0x10
  s_waitcnt lgkmcnt(0)
  put 0, s30
  s_load_dword s30, s[0:1], 0x18
  s_waitcnt lgkmcnt(0)
  put 1, s30
  s_load_dword s30, s[0:1], 0x20
  s_waitcnt lgkmcnt(0)
  put 2, s30
  s_load_dword s30, s[0:1], 0x30
  s_waitcnt lgkmcnt(0)
  put 3, s30
  s_load_dword s30, s[0:1], 0x38
  s_waitcnt lgkmcnt(0)
  put 4, s30
  s_load_dword s30, s[0:1], 0x40
  s_waitcnt lgkmcnt(0)
  put 5, s30
  // The printf buffer: what is used and what there is.
  s_load_dwordx2 s[30:31], s[0:1], 0x28
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[32:33], s[30:31], 0x0
  s_waitcnt lgkmcnt(0)
  put 6, s32
  s_cmp_gt_u32 s33, 0x400
  s_cselect_b32 s33, 1, 0
  put 7, s33
  s_endpgm
.Ltest_end:
  .size test, .Ltest_end-test
  .section .rodata,"a",@progbits
  .p2align 6
  .amdhsa_kernel test
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 32
    .amdhsa_next_free_sgpr 96
    .amdhsa_accum_offset 32
    .amdhsa_kernarg_size 72
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: test
    .symbol: test.kd
    .kernarg_segment_size: 72
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 96
    .vgpr_count: 32
    .max_flat_workgroup_size: 1024
    .args:
      - .offset: 0
        .size: 8
        .value_kind: global_buffer
        .address_space: global
      - .offset: 8
        .size: 8
        .value_kind: global_buffer
        .address_space: global
      - .offset: 16
        .size: 8
        .value_kind: hidden_global_offset_x
      - .offset: 24
        .size: 8
        .value_kind: hidden_global_offset_y
      - .offset: 32
        .size: 8
        .value_kind: hidden_global_offset_z
      - .offset: 40
        .size: 8
        .value_kind: hidden_printf_buffer
      - .offset: 48
        .size: 8
        .value_kind: hidden_default_queue
      - .offset: 56
        .size: 8
        .value_kind: hidden_completion_action
      - .offset: 64
        .size: 8
        .value_kind: hidden_multigrid_sync_arg
...
  .end_amdgpu_metadata
