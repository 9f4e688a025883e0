// Hidden arguments of code object v5, in the order below; no dispatch has an offset or a remainder.
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
.amdhsa_code_object_version 5
.include "isa/hidden_arguments.inc"
