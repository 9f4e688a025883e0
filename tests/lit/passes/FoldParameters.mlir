// RUN: wavesmith-opt %s -wavesmith-fold-parameters | FileCheck %s
// RUN: sed "s/if false/if unbound/" %s | not wavesmith-opt -wavesmith-fold-parameters 2>&1 | FileCheck %s --check-prefix=UNBOUND

// UNBOUND: condition #tile.param<"unbound"> is not bound

// The only use of this function is in a branch that goes.
// CHECK-NOT: tile.score
tile.score @mask(%s: f32, %q: i32, %k: i32, %lq: i32, %lk: i32) {
  tile.return %s : f32
}

// CHECK: tile.kernel @k(%[[A:.*]]: f32, %[[B:.*]]: f32
tile.kernel @k(%a: f32, %b: f32, %s: !tile.tile<[32, 32], f32>, %work: !tile.work) {
  // CHECK-NOT: tile.if
  %x = tile.if true -> (f32) {
    tile.yield %a : f32
  } else {
    tile.yield %b : f32
  }
  %y = tile.if false -> (f32) {
    %u = tile.work_unit %work
    %keys = tile.first_keys %u
    %m = tile.apply @mask(%s) at(%u, %keys) : <[32, 32], f32> -> <[32, 32], f32>
    tile.yield %a : f32
  } else {
    %n = tile.if true -> (f32) {
      tile.yield %b : f32
    } else {
      tile.yield %a : f32
    }
    tile.yield %n : f32
  }
  // CHECK: tile.scale %[[A]], %[[B]]
  %z = tile.scale %x, %y : f32, f32 -> f32
  tile.return
}
