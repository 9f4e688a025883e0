// A kernel of 512 s_nop with most resources: EmulatorCodeFuzzer puts the input in their place.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl frame
.p2align 8
.type frame,@function
frame:
  .rept 512
  s_nop 0
  .endr
  s_endpgm
.Lend:
.size frame, .Lend - frame
.rodata
.p2align 6
.amdhsa_kernel frame
  .amdhsa_kernarg_size 32
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_next_free_vgpr 512
  .amdhsa_next_free_sgpr 96
  .amdhsa_accum_offset 256
.end_amdhsa_kernel
