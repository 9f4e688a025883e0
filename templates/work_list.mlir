// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @work_list

// The work list of an attention launch whose lengths only the device knows: unit
// block * heads + head is row block `block` of the batch, counted over all sequences, with every key
// that its rows can see: query i sees those from i + len_kv - len_q - left to i + len_kv - len_q +
// right. Units past the last block have no queries and no keys. Sequence s has
// queries [q_offsets[s], q_offsets[s + 1]) and keys likewise; one that ends beyond `max_queries` or
// `max_keys`, where tensors may end, begins below 0 or ends before it begins, is left out.

!offsets = !tile.tensor<[?], i32>
// AttentionWorkUnit: qBegin, kvBegin, lenQ, lenKv, q0, kv0, kv1, head, kvHead, slot, sink, reserved.
!units = !tile.tensor<[?, 16], i32>

tile.kernel @work_list(
    %q_offsets: !offsets,
    %kv_offsets: !offsets,
    %units: !units,
    %sequences: i32,
    %heads: i32,
    %group: i32,
    %max_queries: i32,
    %max_keys: i32,
    %left: i32,
    %right: i32) {

  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  %c10 = arith.constant 10 : i32
  %c11 = arith.constant 11 : i32
  %c16 = arith.constant 16 : i32
  %last_row = arith.constant 255 : i32
  %rows = arith.constant 256 : i32
  %none = arith.constant -1 : i32

  %block = tile.group x
  %head = tile.group y
  %blocks, %q_begin, %kv_begin, %len_q, %len_kv, %q0 = scf.for %s = %c0 to %sequences step %c1
      iter_args(%first = %c0, %qi = %c0, %ki = %c0, %lqi = %c0, %lki = %c0, %q0i = %c0)
      -> (i32, i32, i32, i32, i32, i32) : i32 {
    %next = arith.addi %s, %c1 : i32
    %q_first = tile.read %q_offsets[%s] : !offsets -> i32
    %q_end = tile.read %q_offsets[%next] : !offsets -> i32
    %kv_first = tile.read %kv_offsets[%s] : !offsets -> i32
    %kv_end = tile.read %kv_offsets[%next] : !offsets -> i32
    %q_fits = arith.cmpi sle, %q_end, %max_queries : i32
    %kv_fits = arith.cmpi sle, %kv_end, %max_keys : i32
    %q_begins = arith.cmpi sge, %q_first, %c0 : i32
    %kv_begins = arith.cmpi sge, %kv_first, %c0 : i32
    %q_rises = arith.cmpi sge, %q_end, %q_first : i32
    %kv_rises = arith.cmpi sge, %kv_end, %kv_first : i32
    %end = arith.andi %q_fits, %kv_fits : i1
    %begin = arith.andi %q_begins, %kv_begins : i1
    %rise = arith.andi %q_rises, %kv_rises : i1
    %bounded = arith.andi %end, %begin : i1
    %fits = arith.andi %bounded, %rise : i1
    %own = arith.subi %q_end, %q_first : i32
    %queries = arith.select %fits, %own, %c0 : i32
    %keys = arith.subi %kv_end, %kv_first : i32
    %padded = arith.addi %queries, %last_row : i32
    %count = arith.shrui %padded, %c8 : i32
    %index = arith.subi %block, %first : i32
    // Unsigned: a block of an earlier sequence is not below either.
    %here = arith.cmpi ult, %index, %count : i32
    %row = arith.muli %index, %rows : i32
    %after = arith.addi %first, %count : i32
    %qn = arith.select %here, %q_first, %qi : i32
    %kn = arith.select %here, %kv_first, %ki : i32
    %lqn = arith.select %here, %queries, %lqi : i32
    %lkn = arith.select %here, %keys, %lki : i32
    %q0n = arith.select %here, %row, %q0i : i32
    scf.yield %after, %qn, %kn, %lqn, %lkn, %q0n : i32, i32, i32, i32, i32, i32
  }

  %rest = arith.subi %len_q, %q0 : i32
  %in_block = arith.minsi %rest, %rows : i32
  %shift = arith.subi %len_kv, %len_q : i32
  %first_own = arith.addi %q0, %shift : i32
  %last_own = arith.addi %first_own, %in_block : i32
  %from = arith.subi %first_own, %left : i32
  %to = arith.addi %last_own, %right : i32
  %kv_from = arith.maxsi %from, %c0 : i32
  %kv_to = arith.minsi %to, %len_kv : i32
  %sees = arith.cmpi slt, %kv_from, %kv_to : i32
  %kv0 = arith.select %sees, %kv_from, %c0 : i32
  %kv1 = arith.select %sees, %kv_to, %c0 : i32

  %base = arith.muli %block, %heads : i32
  %unit = arith.addi %base, %head : i32
  %kv_head = arith.divui %head, %group : i32
  tile.write %q_begin to %units[%unit, %c0] : i32, !units
  tile.write %kv_begin to %units[%unit, %c1] : i32, !units
  tile.write %len_q to %units[%unit, %c2] : i32, !units
  tile.write %len_kv to %units[%unit, %c3] : i32, !units
  tile.write %q0 to %units[%unit, %c4] : i32, !units
  tile.write %kv0 to %units[%unit, %c5] : i32, !units
  tile.write %kv1 to %units[%unit, %c6] : i32, !units
  tile.write %head to %units[%unit, %c7] : i32, !units
  tile.write %kv_head to %units[%unit, %c8] : i32, !units
  tile.write %none to %units[%unit, %c9] : i32, !units
  tile.write %c1 to %units[%unit, %c10] : i32, !units
  scf.for %field = %c11 to %c16 step %c1 : i32 {
    tile.write %c0 to %units[%unit, %field] : i32, !units
  }
  tile.return
}
