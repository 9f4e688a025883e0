// RUN: wavesmith-opt %s -wavesmith-peel-masks | FileCheck %s

// An upper limit that grows with the query: full steps need no mask.
tile.score @causal(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %offset = arith.subi %len_kv, %len_q : i32
  %limit = arith.addi %query, %offset : i32
  %visible = arith.cmpi sle, %key, %limit : i32
  %r = tile.mask %s, %visible : f32
  tile.return %r : f32
}
// A lower limit, with a value from the launch, is as good.
tile.score @window(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32, %left: i32) {
  %limit = arith.subi %query, %left : i32
  %visible = arith.cmpi sge, %key, %limit : i32
  %r = tile.mask %s, %visible : f32
  tile.return %r : f32
}
// So is a change of the score, which hides nothing.
tile.score @double(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %r = arith.addf %s, %s : f32
  tile.return %r : f32
}
// A limit that falls as the query grows is none of them.
tile.score @falling(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %limit = arith.subi %len_kv, %query : i32
  %visible = arith.cmpi sle, %key, %limit : i32
  %r = tile.mask %s, %visible : f32
  tile.return %r : f32
}
// Nor is a mask of a changed score: without the mask the change would be missing.
tile.score @both(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %t = arith.addf %s, %s : f32
  %visible = arith.cmpi slt, %key, %len_kv : i32
  %r = tile.mask %t, %visible : f32
  tile.return %r : f32
}

tile.kernel @k(%s: !tile.tile<[256, 32], f32>, %work: !tile.work, %left: i32) {
  %u = tile.work_unit %work
  // CHECK: tile.for_keys {{.*}} attributes {peeled}
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @causal(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  // CHECK: tile.for_keys {{.*}} attributes {peeled}
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @double(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    %b = tile.apply @causal(%a) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    %c = tile.apply @window(%b) at(%u, %keys) with(%left : i32) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  // CHECK: tile.for_keys
  // CHECK-NOT: peeled
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @falling(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @both(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  tile.return
}
