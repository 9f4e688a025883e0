// What clang 22 makes at -O1 of a private array with computed indices: VGPR indexing, in loops over
// the distinct indices of the lanes (-target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib):
//   kernel __attribute__((reqd_work_group_size(64, 1, 1))) void test(global const uint *in, global uint *out) {
//     uint a[10], t = __builtin_amdgcn_workitem_id_x();
//     for (int i = 0; i < 10; ++i)
//       a[i] = 3 * t;
//     for (uint i = 0; i < in[5]; ++i) {
//       a[in[i] + 2] += in[i + 1];
//       a[(i + t) & 7] += in[i] + t;
//     }
//     uint s = 0;
//     for (uint i = 0; i < 10; ++i)
//       s = s * 5 + a[i];
//     out[t] = s;
//   }
// BLOCK: 64
// CLEAN
// OUT 0 = 728125
// OUT 1 = 8055468
// OUT 2 = 14989811
// OUT 7 = 71485326
// OUT 8 = 78846869
// OUT 63 = 618142934
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 6
        .text
        .protected      test                    ; -- Begin function test
        .globl  test
        .p2align        8
        .type   test,@function
test:                                   ; @test
; %bb.0:
        v_mov_b32_e32 v1, v0
        v_mul_u32_u24_e32 v12, 3, v0
        s_mov_b32 s2, 0
        v_mov_b32_e32 v2, 0
        v_mov_b32_e32 v3, 0
        v_mov_b32_e32 v4, 0
        v_mov_b32_e32 v5, 0
        v_mov_b32_e32 v6, 0
        v_mov_b32_e32 v7, 0
        v_mov_b32_e32 v8, 0
        v_mov_b32_e32 v9, 0
        v_mov_b32_e32 v10, 0
        v_mov_b32_e32 v11, 0
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
        s_set_gpr_idx_on s2, gpr_idx(DST)
        v_mov_b32_e32 v2, v12
        s_set_gpr_idx_off
        s_add_i32 s2, s2, 1
        s_cmp_eq_u32 s2, 10
        s_cbranch_scc0 .LBB0_1
; %bb.2:
        s_load_dwordx2 s[2:3], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        s_load_dword s22, s[2:3], 0x14
        s_waitcnt lgkmcnt(0)
        s_cmp_eq_u32 s22, 0
        s_cbranch_scc1 .LBB0_5
; %bb.3:
        s_add_u32 s20, s2, 4
        s_addc_u32 s21, s3, 0
.LBB0_4:                                ; =>This Inner Loop Header: Depth=1
        s_add_u32 s2, s20, -4
        s_addc_u32 s3, s21, -1
        s_load_dword s4, s[20:21], 0x0
        s_load_dword s18, s[2:3], 0x0
        v_and_b32_e32 v12, 7, v1
        v_cmp_eq_u32_e32 vcc, 1, v12
        v_cmp_eq_u32_e64 s[6:7], 4, v12
        v_cmp_eq_u32_e64 s[8:9], 5, v12
        s_waitcnt lgkmcnt(0)
        s_add_i32 s2, s18, 2
        s_set_gpr_idx_on s2, gpr_idx(SRC0)
        v_mov_b32_e32 v13, v2
        s_set_gpr_idx_off
        v_add_u32_e32 v13, s4, v13
        s_set_gpr_idx_on s2, gpr_idx(DST)
        v_mov_b32_e32 v2, v13
        s_set_gpr_idx_off
        v_cndmask_b32_e32 v13, v2, v3, vcc
        v_cmp_eq_u32_e64 s[2:3], 2, v12
        v_cmp_eq_u32_e64 s[4:5], 3, v12
        v_cmp_eq_u32_e64 s[10:11], 6, v12
        v_cndmask_b32_e64 v13, v13, v4, s[2:3]
        v_cndmask_b32_e64 v13, v13, v5, s[4:5]
        v_cndmask_b32_e64 v13, v13, v6, s[6:7]
        v_cndmask_b32_e64 v13, v13, v7, s[8:9]
        v_cndmask_b32_e64 v13, v13, v8, s[10:11]
        v_cmp_eq_u32_e64 s[12:13], 7, v12
        v_cmp_eq_u32_e64 s[14:15], 8, v12
        s_add_i32 s22, s22, -1
        v_cndmask_b32_e64 v13, v13, v9, s[12:13]
        v_cndmask_b32_e64 v13, v13, v10, s[14:15]
        v_cmp_eq_u32_e64 s[16:17], 9, v12
        s_add_u32 s20, s20, 4
        s_addc_u32 s21, s21, 0
        v_cndmask_b32_e64 v13, v13, v11, s[16:17]
        v_add3_u32 v13, s18, v0, v13
        v_cmp_eq_u32_e64 s[18:19], 0, v12
        v_add_u32_e32 v1, 1, v1
        s_cmp_eq_u32 s22, 0
        v_cndmask_b32_e64 v11, v11, v13, s[16:17]
        v_cndmask_b32_e64 v10, v10, v13, s[14:15]
        v_cndmask_b32_e64 v9, v9, v13, s[12:13]
        v_cndmask_b32_e64 v8, v8, v13, s[10:11]
        v_cndmask_b32_e64 v7, v7, v13, s[8:9]
        v_cndmask_b32_e64 v6, v6, v13, s[6:7]
        v_cndmask_b32_e64 v5, v5, v13, s[4:5]
        v_cndmask_b32_e64 v4, v4, v13, s[2:3]
        v_cndmask_b32_e32 v3, v3, v13, vcc
        v_cndmask_b32_e64 v2, v2, v13, s[18:19]
        s_cbranch_scc0 .LBB0_4
.LBB0_5:
        s_mov_b32 s2, 0
        v_mov_b32_e32 v12, 0
.LBB0_6:                                ; =>This Inner Loop Header: Depth=1
        s_set_gpr_idx_on s2, gpr_idx(SRC0)
        v_mov_b32_e32 v14, v2
        s_set_gpr_idx_off
        s_add_i32 s2, s2, 1
        s_cmp_lg_u32 s2, 10
        v_mad_u64_u32 v[12:13], s[4:5], v12, 5, v[14:15]
        s_cbranch_scc1 .LBB0_6
; %bb.7:
        s_load_dwordx2 s[0:1], s[0:1], 0x8
        v_lshlrev_b32_e32 v0, 2, v0
        s_waitcnt lgkmcnt(0)
        global_store_dword v0, v12, s[0:1]
        s_endpgm
        .section        .rodata,"a",@progbits
        .p2align        6, 0x0
        .amdhsa_kernel test
                .amdhsa_group_segment_fixed_size 0
                .amdhsa_private_segment_fixed_size 0
                .amdhsa_kernarg_size 16
                .amdhsa_user_sgpr_count 2
                .amdhsa_user_sgpr_dispatch_ptr 0
                .amdhsa_user_sgpr_queue_ptr 0
                .amdhsa_user_sgpr_kernarg_segment_ptr 1
                .amdhsa_user_sgpr_dispatch_id 0
                .amdhsa_user_sgpr_kernarg_preload_length 0
                .amdhsa_user_sgpr_kernarg_preload_offset 0
                .amdhsa_user_sgpr_private_segment_size 0
                .amdhsa_uses_dynamic_stack 0
                .amdhsa_enable_private_segment 0
                .amdhsa_system_sgpr_workgroup_id_x 1
                .amdhsa_system_sgpr_workgroup_id_y 0
                .amdhsa_system_sgpr_workgroup_id_z 0
                .amdhsa_system_sgpr_workgroup_info 0
                .amdhsa_system_vgpr_workitem_id 0
                .amdhsa_next_free_vgpr 16
                .amdhsa_next_free_sgpr 23
                .amdhsa_accum_offset 16
                .amdhsa_reserve_vcc 1
                .amdhsa_float_round_mode_32 0
                .amdhsa_float_round_mode_16_64 0
                .amdhsa_float_denorm_mode_32 3
                .amdhsa_float_denorm_mode_16_64 3
                .amdhsa_dx10_clamp 1
                .amdhsa_ieee_mode 1
                .amdhsa_fp16_overflow 0
                .amdhsa_tg_split 0
                .amdhsa_exception_fp_ieee_invalid_op 0
                .amdhsa_exception_fp_denorm_src 0
                .amdhsa_exception_fp_ieee_div_zero 0
                .amdhsa_exception_fp_ieee_overflow 0
                .amdhsa_exception_fp_ieee_underflow 0
                .amdhsa_exception_fp_ieee_inexact 0
                .amdhsa_exception_int_div_zero 0
        .end_amdhsa_kernel
        .text
.Lfunc_end0:
        .size   test, .Lfunc_end0-test
                                        ; -- End function
        .text
        .text
        .amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .address_space:  global
        .is_const:       true
        .offset:         0
        .size:           8
        .type_name:      'uint*'
        .value_kind:     global_buffer
      - .address_space:  global
        .offset:         8
        .size:           8
        .type_name:      'uint*'
        .value_kind:     global_buffer
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 64
    .name:           test
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 64
      - 1
      - 1
    .sgpr_count:     29
    .sgpr_spill_count: 0
    .symbol:         test.kd
    .uses_dynamic_stack: false
    .vgpr_count:     16
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
        .end_amdgpu_metadata
