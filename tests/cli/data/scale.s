// out[i] = factor * in[i], one lane each, 64 lanes a workgroup. Arguments: in, out, factor.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl scale
.p2align 8
.type scale,@function
scale:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s8, s[0:1], 0x10
  v_and_b32_e32 v0, 0x3ff, v0
  s_lshl_b32 s9, s2, 8
  v_lshl_add_u32 v0, v0, 2, s9
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
  v_mul_f32_e32 v1, s8, v1
  global_store_dword v0, v1, s[6:7]
  s_endpgm
.Lend:
.size scale, .Lend - scale

.rodata
.p2align 6
.amdhsa_kernel scale
  .amdhsa_kernarg_size 24
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 2
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 4
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: scale
    .symbol: scale.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 2
    .agpr_count: 0
    .max_flat_workgroup_size: 64
    .args:
      - { .name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: factor, .offset: 16, .size: 4, .value_kind: by_value }
...
.end_amdgpu_metadata
