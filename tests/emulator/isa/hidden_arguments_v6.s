// Hidden arguments of code object v6, in the order below; no dispatch has an offset or a remainder.
// BLOCK: 64
// CLEAN
// OUT 0 = 0x1   block_count_x
// OUT 1 = 0x1   block_count_y
// OUT 2 = 0x1   block_count_z
// OUT 3 = 0x40   group_size_x
// OUT 4 = 0x1   group_size_y
// OUT 5 = 0x1   group_size_z
// OUT 6 = 0x0   remainder_x
// OUT 7 = 0x0   remainder_y
// OUT 8 = 0x0   remainder_z
// OUT 9 = 0x0   global_offset_x
// OUT 10 = 0x0   global_offset_y
// OUT 11 = 0x0   global_offset_z
// OUT 12 = 0x1   grid_dims
// OUT 13 = 0x0   hostcall_buffer
// OUT 14 = 0x0   multigrid_sync_arg
// OUT 15 = 0x0   heap_v1
// OUT 16 = 0x0   default_queue
// OUT 17 = 0x0   completion_action
// OUT 18 = 0x0   dynamic_lds_size
// OUT 19 = 0x20000   private_base
// OUT 20 = 0x10000   shared_base
// OUT 21 = 0x0   printf buffer: used
// OUT 22 = 0x1   printf buffer: has room
// OUT 23 = 0x10000   queue: shared aperture
// OUT 24 = 0x20000   queue: private aperture
.amdhsa_code_object_version 6
.include "kernel.inc"
kernel_begin
  s_load_dword s30, s[0:1], 0x10
  s_waitcnt lgkmcnt(0)
  put 0, s30
  s_load_dword s30, s[0:1], 0x14
  s_waitcnt lgkmcnt(0)
  put 1, s30
  s_load_dword s30, s[0:1], 0x18
  s_waitcnt lgkmcnt(0)
  put 2, s30
  s_load_dword s30, s[0:1], 0x1c
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100000
  put 3, s30
  s_load_dword s30, s[0:1], 0x1c
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100010
  put 4, s30
  s_load_dword s30, s[0:1], 0x20
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100000
  put 5, s30
  s_load_dword s30, s[0:1], 0x20
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100010
  put 6, s30
  s_load_dword s30, s[0:1], 0x24
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100000
  put 7, s30
  s_load_dword s30, s[0:1], 0x24
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100010
  put 8, s30
  s_load_dword s30, s[0:1], 0x38
  s_waitcnt lgkmcnt(0)
  put 9, s30
  s_load_dword s30, s[0:1], 0x40
  s_waitcnt lgkmcnt(0)
  put 10, s30
  s_load_dword s30, s[0:1], 0x48
  s_waitcnt lgkmcnt(0)
  put 11, s30
  s_load_dword s30, s[0:1], 0x50
  s_waitcnt lgkmcnt(0)
  s_bfe_u32 s30, s30, 0x100000
  put 12, s30
  s_load_dword s30, s[0:1], 0x60
  s_waitcnt lgkmcnt(0)
  put 13, s30
  s_load_dword s30, s[0:1], 0x68
  s_waitcnt lgkmcnt(0)
  put 14, s30
  s_load_dword s30, s[0:1], 0x70
  s_waitcnt lgkmcnt(0)
  put 15, s30
  s_load_dword s30, s[0:1], 0x78
  s_waitcnt lgkmcnt(0)
  put 16, s30
  s_load_dword s30, s[0:1], 0x80
  s_waitcnt lgkmcnt(0)
  put 17, s30
  s_load_dword s30, s[0:1], 0x88
  s_waitcnt lgkmcnt(0)
  put 18, s30
  s_load_dword s30, s[0:1], 0xd0
  s_waitcnt lgkmcnt(0)
  put 19, s30
  s_load_dword s30, s[0:1], 0xd4
  s_waitcnt lgkmcnt(0)
  put 20, s30
  // The printf buffer: what is used and what there is.
  s_load_dwordx2 s[30:31], s[0:1], 0x58
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[32:33], s[30:31], 0x0
  s_waitcnt lgkmcnt(0)
  put 21, s32
  s_cmp_gt_u32 s33, 0x400
  s_cselect_b32 s33, 1, 0
  put 22, s33
  // The queue holds the apertures too.
  s_load_dwordx2 s[30:31], s[0:1], 0xd8
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[32:33], s[30:31], 0x40
  s_waitcnt lgkmcnt(0)
  put 23, s32
  put 24, s33
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
    .amdhsa_kernarg_size 272
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: test
    .symbol: test.kd
    .kernarg_segment_size: 272
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
        .size: 4
        .value_kind: hidden_block_count_x
      - .offset: 20
        .size: 4
        .value_kind: hidden_block_count_y
      - .offset: 24
        .size: 4
        .value_kind: hidden_block_count_z
      - .offset: 28
        .size: 2
        .value_kind: hidden_group_size_x
      - .offset: 30
        .size: 2
        .value_kind: hidden_group_size_y
      - .offset: 32
        .size: 2
        .value_kind: hidden_group_size_z
      - .offset: 34
        .size: 2
        .value_kind: hidden_remainder_x
      - .offset: 36
        .size: 2
        .value_kind: hidden_remainder_y
      - .offset: 38
        .size: 2
        .value_kind: hidden_remainder_z
      - .offset: 56
        .size: 8
        .value_kind: hidden_global_offset_x
      - .offset: 64
        .size: 8
        .value_kind: hidden_global_offset_y
      - .offset: 72
        .size: 8
        .value_kind: hidden_global_offset_z
      - .offset: 80
        .size: 2
        .value_kind: hidden_grid_dims
      - .offset: 88
        .size: 8
        .value_kind: hidden_printf_buffer
      - .offset: 96
        .size: 8
        .value_kind: hidden_hostcall_buffer
      - .offset: 104
        .size: 8
        .value_kind: hidden_multigrid_sync_arg
      - .offset: 112
        .size: 8
        .value_kind: hidden_heap_v1
      - .offset: 120
        .size: 8
        .value_kind: hidden_default_queue
      - .offset: 128
        .size: 8
        .value_kind: hidden_completion_action
      - .offset: 136
        .size: 4
        .value_kind: hidden_dynamic_lds_size
      - .offset: 208
        .size: 4
        .value_kind: hidden_private_base
      - .offset: 212
        .size: 4
        .value_kind: hidden_shared_base
      - .offset: 216
        .size: 8
        .value_kind: hidden_queue_ptr
...
  .end_amdgpu_metadata
