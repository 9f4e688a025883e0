// Vectors of three elements of one, two and four bytes, stored as four: the fourth is anything, which
// is no fault; using it is one.
// FAULT: uninitialised branches on VCC
// OUT 0 = 5
.include "kernel.inc"
.include "checks/stores_of_three.inc"
kernel_begin
  stores_of_three
  s_waitcnt vmcnt(0)
  global_load_dword v2, v1, s[6:7] offset:12
  s_waitcnt vmcnt(0)
  v_cmp_gt_i32_e32 vcc, 0, v2
  s_cbranch_vccnz .Lend
.Lend:
kernel_end
