// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// Every op prints as it is read.

// CHECK: tile.param @rows : i32 in [32, 64] doc "rows"
tile.param @rows : i32 in [32, 64] doc "rows"
// CHECK: tile.param @fast : i1 doc "a flag"
tile.param @fast : i1 doc "a flag"
// CHECK: tile.param @input : type in [bf16, f8E4M3FNUZ] doc "an element"
tile.param @input : type in [bf16, f8E4M3FNUZ] doc "an element"

// CHECK: tile.score @cap(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) {
tile.score @cap(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %visible = arith.cmpi slt, %key, %query : i32
  // CHECK: tile.mask %{{.*}}, %{{.*}} : f32
  %r = tile.mask %s, %visible : f32
  // CHECK: tile.return %{{.*}} : f32
  tile.return %r : f32
}

// Values from the launch stand behind the lengths.
// CHECK: tile.score @near(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32) {
tile.score @near(%s: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32, %left: i32, %factor: f32) {
  %r = arith.mulf %s, %factor : f32
  tile.return %r : f32
}

// CHECK: tile.kernel @k(%[[Q:.*]]: !tile.tensor<[?, ?, 64], input>, %{{.*}}: !tile.work
// CHECK-SAME: attributes {target = "gfx942"}
tile.kernel @k(%q: !tile.tensor<[?, ?, 64], input>, %work: !tile.work, %d: !tile.tensor<[?], f32>, %out: !tile.tensor<[?, ?, rows], f32>, %left: i32) attributes {target = "gfx942"} {
  // CHECK: %[[U:.*]] = tile.work_unit
  %u = tile.work_unit %work
  // CHECK: tile.first_keys %[[U]]
  %first = tile.first_keys %u
  // CHECK: tile.descale %{{.*}}[%[[U]]] : <[?], f32> -> f32
  %scale = tile.descale %d[%u] : !tile.tensor<[?], f32> -> f32
  // CHECK: tile.scale %{{.*}}, %{{.*}} : f32, f32 -> f32
  %s2 = tile.scale %scale, %scale : f32, f32 -> f32
  // CHECK: %[[A:.*]] = tile.load %[[Q]][%[[U]] : !tile.unit] : <[?, ?, 64], input> -> <[rows, 64], input>
  %a = tile.load %q[%u : !tile.unit] : <[?, ?, 64], input> -> <[rows, 64], input>
  // CHECK: tile.load %{{.*}} {lds = #tile.lds<rows, offset = 0, bytes = 512, line = 272, buffers = 2>, staging = #tile.staging<group = 0, ahead = 2>}
  %b = tile.load %q[%first : !tile.keys] {lds = #tile.lds<rows, offset = 0, bytes = 512, line = 272, buffers = 2>, staging = #tile.staging<group = 0, ahead = 2>} : <[?, ?, 64], input> -> <[rows, 64], input>
  // CHECK: tile.fill 1.000000e+00 : <[rows, rows], f32, #tile.mma<"atom", acc, transposed = true>>
  %zero = tile.fill 1.0 : <[rows, rows], f32, #tile.mma<"atom", acc, transposed = true>>
  %m = tile.fill 0.0 : <[rows], f32>
  // CHECK: %[[S:.*]] = tile.dot %[[A]], %{{.*}} transposed {atom = "atom"} : <[rows, 64], input>, <[rows, 64], input> -> <[rows, rows], f32>
  %s = tile.dot %a, %b transposed {atom = "atom"} : <[rows, 64], input>, <[rows, 64], input> -> <[rows, rows], f32>
  // CHECK: tile.if fast -> (!tile.tile<[rows], f32>) {
  %c = tile.if fast -> (!tile.tile<[rows], f32>) {
    tile.yield %m : !tile.tile<[rows], f32>
  // CHECK: } else {
  } else {
    tile.yield %m : !tile.tile<[rows], f32>
  }
  // CHECK: tile.for_keys %{{.*}} of %[[U]] step rows iter(%{{.*}} = %{{.*}}) -> !tile.tile<[rows], f32> {
  %r = tile.for_keys %keys of %u step rows iter(%x = %c) -> (!tile.tile<[rows], f32>) {
    // CHECK: tile.apply @cap(%[[S]]) at(%[[U]], %{{.*}}) : <[rows, rows], f32> -> <[rows, rows], f32>
    %t = tile.apply @cap(%s) at(%u, %keys) : <[rows, rows], f32> -> <[rows, rows], f32>
    // CHECK: tile.apply @near(%{{.*}}) at(%[[U]], %{{.*}}) with(%{{.*}}, %{{.*}} : i32, f32) : <[rows, rows], f32> -> <[rows, rows], f32>
    %v = tile.apply @near(%t) at(%u, %keys) with(%left, %scale : i32, f32) : <[rows, rows], f32> -> <[rows, rows], f32>
    // CHECK: tile.online_softmax
    %p, %mn, %ln, %on = tile.online_softmax %t, %x, %x, %t scale %s2 : <[rows, rows], f32>, <[rows], f32>, <[rows], f32>, <[rows, rows], f32>, f32 -> <[rows, rows], input>, <[rows], f32>, <[rows], f32>, <[rows, rows], f32>
    tile.yield %mn : !tile.tile<[rows], f32>
  }
  // CHECK: tile.for_keys %{{.*}}, %{{.*}} of %[[U]] step 32 attributes {peeled, schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 3>} {
  tile.for_keys %keys, %next of %u step 32 attributes {peeled, schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 3>} {
    // CHECK: tile.phase{{ +}}vector waits [#tile.waits<group = 0, vmem = 0, lds = -1>] {
    tile.phase vector waits [#tile.waits<group = 0, vmem = 0, lds = -1>] {
      tile.yield
    }
    // CHECK: tile.phase{{ +}}matrix {
    tile.phase matrix {
      tile.yield
    }
    tile.yield
  }
  // CHECK: tile.normalize
  %o, %lse = tile.normalize %s, %r, %r scale %s2 : <[rows, rows], f32>, <[rows], f32>, <[rows], f32>, f32 -> <[rows, rows], f32>, <[rows], f32>
  // CHECK: %[[SINK:.*]] = tile.sink %{{.*}}[%[[U]]] : <[?], f32> -> f32
  %logit = tile.sink %d[%u] : !tile.tensor<[?], f32> -> f32
  // CHECK: tile.normalize %{{.*}}, %{{.*}}, %{{.*}} scale %{{.*}} sink %[[SINK]] : <[rows, rows], f32>, <[rows], f32>, <[rows], f32>, f32, f32 -> <[rows, rows], f32>, <[rows], f32>
  %o2, %lse2 = tile.normalize %s, %r, %r scale %s2 sink %logit : <[rows, rows], f32>, <[rows], f32>, <[rows], f32>, f32, f32 -> <[rows, rows], f32>, <[rows], f32>
  // CHECK: tile.store %{{.*}} to %{{.*}}[%[[U]]] : <[rows, rows], f32>, <[?, ?, rows], f32>
  tile.store %o to %out[%u] : <[rows, rows], f32>, <[?, ?, rows], f32>
  // CHECK: tile.store %{{.*}} to %{{.*}}[%[[U]] slot] : <[rows, rows], f32>, <[?, ?, rows], f32>
  tile.store %o to %out[%u slot] : <[rows, rows], f32>, <[?, ?, rows], f32>
  tile.return
}
