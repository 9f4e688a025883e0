// Much of what a code object may hold: two kernels, hidden arguments, a global with relocations,
// our note, LDS, scratch, matrix instructions.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl rich
.protected rich
.p2align 8
.type rich,@function
rich:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, table@rel32@lo+4
  s_addc_u32 s9, s9, table@rel32@hi+12
  s_load_dword s10, s[8:9], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32_e32 v3, 4, v1
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  v_mfma_f32_4x4x1_16b_f32 v[8:11], v2, v4, 0
  s_nop 7
  s_nop 7
  scratch_store_dword off, v4, off
  global_store_dword v1, v8, s[6:7]
  s_endpgm
.Lend:
.size rich, .Lend - rich
.globl empty
.p2align 8
.type empty,@function
empty:
  s_endpgm
.Lempty:
.size empty, .Lempty - empty
.data
.globl table
.protected table
.p2align 3
.type table,@object
table:
  .quad rich
  .quad table+8
.size table, 16
.rodata
.p2align 6
.amdhsa_kernel rich
  .amdhsa_kernarg_size 48
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_private_segment_fixed_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 40
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 32
.end_amdhsa_kernel
.amdhsa_kernel empty
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 4
.end_amdhsa_kernel
.section .note.wavesmith,"a",@note
  .p2align 2
  .long 10, .Lj2-.Lj1, 1
  .asciz "Wavesmith"
  .p2align 2
.Lj1:
  .ascii "{\"spec\":\"s\",\"spec_key\":\"k\",\"build_key\":\"b\",\"abi\":\"a\",\"fp8_format\":\"\",\"schedule\":\"default\",\"toolchain\":\"t\"}"
.Lj2:
  .p2align 2
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: rich
    .symbol: rich.kd
    .kernarg_segment_size: 48
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 40
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .reqd_workgroup_size: [ 64, 1, 1 ]
    .args:
      - { .name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 16, .size: 4, .value_kind: hidden_block_count_x }
      - { .offset: 28, .size: 2, .value_kind: hidden_group_size_x }
      - { .offset: 32, .size: 2, .value_kind: hidden_grid_dims }
  - .name: empty
    .symbol: empty.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 4
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
