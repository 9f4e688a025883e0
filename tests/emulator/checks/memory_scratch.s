// FAULT: memory at scratch offset 0x10, beyond the 16 bytes
.include "kernel.inc"
kernel_begin
  scratch_store_dword off, v0, off offset:12
  scratch_store_dword off, v0, off offset:16
kernel_end scratch=16
