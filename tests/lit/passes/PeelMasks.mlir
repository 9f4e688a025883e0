// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-peel-masks | FileCheck %s

// An upper limit that grows with the query: full steps need no mask.
tile.score @causal(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %offset = arith.subi %len_kv, %len_q : i32
  %limit = arith.addi %query, %offset : i32
  %visible = arith.cmpi sle, %key, %limit : i32
  %r = tile.mask %s, %visible : f32
  tile.return %r : f32
}
// A lower limit is not one.
tile.score @window(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %visible = arith.cmpi sgt, %key, %query : i32
  %r = tile.mask %s, %visible : f32
  tile.return %r : f32
}
// Nor is a limit that falls as the query grows.
tile.score @falling(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %limit = arith.subi %len_kv, %query : i32
  %visible = arith.cmpi sle, %key, %limit : i32
  %r = tile.mask %s, %visible : f32
  tile.return %r : f32
}
// Nor a change of the score.
tile.score @double(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %r = arith.addf %s, %s : f32
  tile.return %r : f32
}

tile.kernel @k(%s: !tile.tile<[256, 32], f32>, %work: !tile.work) {
  %u = tile.work_unit %work
  // CHECK: tile.for_keys {{.*}} attributes {peeled}
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @causal(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  // CHECK: tile.for_keys
  // CHECK-NOT: peeled
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @causal(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    %b = tile.apply @window(%a) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @falling(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  tile.for_keys %keys of %u step 32 {
    %a = tile.apply @double(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%s: !tile.tile<[256, 32], f32>, %work: !tile.work) {
  %u = tile.work_unit %work
  tile.for_keys %keys of %u step 32 {
    // expected-error@+1 {{there is no score function @nowhere}}
    %a = tile.apply @nowhere(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
    tile.yield
  }
  tile.return
}
