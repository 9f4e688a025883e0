// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-pipeline-loads="ring=5 pre=2" | FileCheck %s
// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-pipeline-loads="register-ahead=1" | FileCheck %s --check-prefix=LATE
// RUN: echo 'module {}' | not wavesmith-opt -wavesmith-pipeline-loads="register-ahead=3" 2>&1 | FileCheck %s --check-prefix=FAR

// What passes through registers is requested as its vector phase starts.
// LATE: transposed, {{.*}}staging = #tile.staging<group = 1, ahead = 1>
// LATE: rows, {{.*}}staging = #tile.staging<group = 0, ahead = 1>
// FAR: tiles through registers 3 steps ahead; want 1 or 2

!lds_k = !tile.tile<[32, 64], bf16>
!scores = !tile.tile<[256, 32], f32>
!weights = !tile.tile<[256, 32], bf16>
!rows = !tile.tile<[256], f32>
!sums = !tile.tile<[256, 64], f32>

// CHECK: tile.kernel @attention(%[[Q:[^:]*]]:
tile.kernel @attention(%q: !tile.tile<[256, 64], bf16>, %k: !tile.tensor<[?, ?, 64], bf16>, %v: !tile.tensor<[?, ?, 64], bf16>, %scale: f32, %work: !tile.work) {
  // CHECK: %[[U:.*]] = tile.work_unit
  %u = tile.work_unit %work
  %m0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  // The first scores are made before the loop, from its first keys.
  // CHECK: %[[FIRST:.*]] = tile.first_keys %[[U]]
  // CHECK: %[[K0:.*]] = tile.load {{.*}}[%[[FIRST]] : !tile.keys]
  // CHECK: %[[S0:.*]] = tile.dot %[[Q]], %[[K0]] transposed
  // CHECK: %[[R:.*]]:3 = tile.for_keys %[[KEYS:.*]], %[[NEXT:.*]] of %[[U]] step 32 iter(%[[S:.*]] = %[[S0]], %[[M:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}})
  // CHECK-SAME: schedule = #tile.anti_phase<waves = 8, ring = 5, pre = 2>
  %r:2 = tile.for_keys %keys of %u step 32 iter(%m = %m0, %o = %o0) -> (!rows, !sums) {
    // CHECK: %[[V:.*]]:3 = tile.phase{{ +}}vector
    // CHECK: tile.online_softmax %[[S]], %[[M]], %[[M]], %[[O]]
    // CHECK: %[[X:.*]]:2 = tile.phase{{ +}}matrix
    // Of two buffers one is read: DMA goes a step ahead, what passes through registers waits there
    // and is two ahead.
    // CHECK: %[[VT:.*]] = tile.load {{.*}}[%[[KEYS]] : !tile.keys] {{.*}}staging = #tile.staging<group = 1, ahead = 2>
    // CHECK: %[[ON:.*]] = tile.dot %[[V]]#0, %[[VT]] into %[[V]]#2
    // CHECK: %[[KT:.*]] = tile.load {{.*}}[%[[NEXT]] : !tile.keys] {{.*}}staging = #tile.staging<group = 0, ahead = 1>
    // CHECK: %[[SN:.*]] = tile.dot %[[Q]], %[[KT]] transposed
    // CHECK: tile.yield %[[ON]], %[[SN]]
    // CHECK: tile.yield %[[X]]#1, %[[V]]#1, %[[X]]#0
    %kt = tile.load %k[%keys : !tile.keys] {lds = #tile.lds<rows, offset = 0, bytes = 4352, line = 272, buffers = 2>} : <[?, ?, 64], bf16> -> !lds_k
    %s = tile.dot %q, %kt transposed : <[256, 64], bf16>, !lds_k -> !scores
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : !scores, !rows, !rows, !sums, f32 -> !weights, !rows, !rows, !sums
    %vt = tile.load %v[%keys : !tile.keys] {lds = #tile.lds<transposed, offset = 8704, bytes = 4160, line = 1040, buffers = 2>} : <[?, ?, 64], bf16> -> !lds_k
    %o2 = tile.dot %p, %vt into %on : !weights, !lds_k, !sums -> !sums
    tile.yield %mn, %o2 : !rows, !sums
  }
  // CHECK: tile.scale %[[R]]#2
  %x = tile.scale %r#1, %scale : !sums, f32 -> !sums
  tile.return
}

// -----

tile.kernel @none(%work: !tile.work) {
  %u = tile.work_unit %work
  // expected-error@+1 {{has no product of a loop-invariant tile and a loaded one}}
  tile.for_keys %keys of %u step 32 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @two(%q: !tile.tile<[256, 64], bf16>, %k: !tile.tensor<[?, ?, 64], bf16>, %work: !tile.work) {
  %u = tile.work_unit %work
  tile.for_keys %keys of %u step 32 {
    %a = tile.load %k[%keys : !tile.keys] : <[?, ?, 64], bf16> -> <[32, 64], bf16>
    %s = tile.dot %q, %a transposed : <[256, 64], bf16>, <[32, 64], bf16> -> <[256, 32], f32>
    %b = tile.load %k[%keys : !tile.keys] : <[?, ?, 64], bf16> -> <[32, 64], bf16>
    // expected-error@+1 {{is a second product that could run ahead}}
    %t = tile.dot %q, %b transposed : <[256, 64], bf16>, <[32, 64], bf16> -> <[256, 32], f32>
    tile.yield
  }
  tile.return
}
