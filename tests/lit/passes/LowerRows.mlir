// What a lane does with a row: addresses with strides for '?' and packed sizes behind it, values in
// registers, sums over lanes, one atomic for a wave.

// RUN: wavesmith-opt %s -split-input-file -wavesmith-lower-rows=kernel-name=ws_test | FileCheck %s
// RUN: sed "s/ attributes {layout.*rows = 64>}//" %s | not wavesmith-opt -split-input-file -wavesmith-lower-rows 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: sed "s/lanes = 8,/lanes = 3,/" %s | not wavesmith-opt -split-input-file -wavesmith-lower-rows 2>&1 | FileCheck %s --check-prefix=WAVE
// RUN: sed "s/lanes = 8,/lanes = 64,/" %s | not wavesmith-opt -split-input-file -wavesmith-lower-rows 2>&1 | FileCheck %s --check-prefix=WAVE2
// RUN: not wavesmith-opt %s -split-input-file -wavesmith-lower-rows=target=gfx950 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: sed "s/%factor: f32/%factor: f32, %work: !tile.work/" %s | not wavesmith-opt -split-input-file -wavesmith-lower-rows 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: sed "s/%factor: f32/%factor: f32, %zz: !tile.tensor<[?, 8], f32>/; s/%u = .*/%yy = arith.select %b, %zz, %zz : !tile.tensor<[?, 8], f32>/" %s | not wavesmith-opt -split-input-file -wavesmith-lower-rows 2>&1 | FileCheck %s --check-prefix=TENSOR

// RUN: sed "s/, 64\]/, 4096]/; s/\[64\]/[4096]/" %s | not wavesmith-opt -split-input-file -wavesmith-lower-rows 2>&1 | FileCheck %s --check-prefix=LONG

// LONG: a lane can hold 256 elements, not 512
// LAYOUT: which is no row of a loop with a layout
// WAVE: does not fit a wave
// WAVE2: which is no row of a loop with a layout
// FORMAT: gives elements of 'f8E4M3FNUZ', which gfx950 has no conversions for
// ARGUMENT: argument {{[0-9]}} is '!tile.work'; a row kernel takes tensors, f32, i32 and i64
// TENSOR: carries a tensor

!halves = !tile.tensor<[?, ?, 64], bf16>
!bytes = !tile.tensor<[?, 4, 64], f8E4M3FNUZ>
!row = !tile.tile<[64], f32>

// A tensor is an address and a stride for each '?'.
// CHECK: llvm.func @ws_test(%[[X:.*]]: !llvm.ptr<1>, %[[XS0:.*]]: i64, %[[XS1:.*]]: i64, %[[Y:.*]]: !llvm.ptr<1>, %[[YS:.*]]: i64, %[[M:.*]]: !llvm.ptr<1>, %{{.*}}: i64, %[[N:.*]]: i32, %[[F:.*]]: f32)
// CHECK-SAME: rocdl.flat_work_group_size = "256,256"
tile.kernel @k(%x: !halves, %y: !bytes, %m: !tile.tensor<[?], f32>, %n: i32, %factor: f32) {
  %b = arith.constant true
  // CHECK: rocdl.workgroup.id.y
  %head = tile.group y
  %u = arith.select %b, %n, %n : i32
  // CHECK: rocdl.workgroup.id.x
  // CHECK: %[[AMAX:.*]] = scf.for {{.*}} iter_args({{.*}}) -> (f32)
  tile.for_rows %row of %n across x attributes {layout = #tile.rows<lanes = 8, chunk = 8, rows = 64>} {
    // CHECK: arith.muli %{{.*}}, %[[XS0]]
    // CHECK: arith.muli %{{.*}}, %[[XS1]]
    // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    %raw = tile.load_row %x[%row, %head] : !halves -> !tile.tile<[64], bf16>
    // CHECK-COUNT-8: arith.extf
    %v = tile.convert %raw : !tile.tile<[64], bf16> -> !row
    // Signs, then three bits in the chunk, three in the lanes.
    // CHECK-COUNT-8: arith.shli
    // CHECK: rocdl.update.dpp {{.*}} with 177
    // CHECK: rocdl.update.dpp {{.*}} with 78
    // CHECK: rocdl.update.dpp {{.*}} with 321
    // CHECK: rocdl.update.dpp {{.*}} with 27
    %h = tile.rotate %v seed 1 : !row
    // CHECK-COUNT-8: arith.mulf %{{.*}}, %[[F]]
    %s = tile.map(%e = %h) : (!row) -> !row {
      %w = arith.mulf %e, %factor : f32
      tile.yield %w : f32
    }
    // CHECK-COUNT-7: arith.maxnumf
    // CHECK: rocdl.update.dpp {{.*}} with 177
    // CHECK: rocdl.update.dpp {{.*}} with 78
    // CHECK: rocdl.update.dpp {{.*}} with 321
    %a = tile.reduce max %s : !row -> f32
    tile.accumulate max %a into %m[%head] : f32, !tile.tensor<[?], f32>
    // CHECK: rocdl.fmed3
    // CHECK: rocdl.cvt.pk.fp8.f32
    %q = tile.convert %s : !row -> !tile.tile<[64], f8E4M3FNUZ>
    // CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xi32>
    tile.store_row %q to %y[%row, %head] : !tile.tile<[64], f8E4M3FNUZ>, !bytes
    // CHECK: scf.yield
  }
  // Over the rows of the wave, then one atomic.
  // CHECK: rocdl.update.dpp {{.*}} with 296
  // CHECK: rocdl.ds_swizzle
  // CHECK: rocdl.ds_bpermute
  // CHECK: llvm.atomicrmw umax {{.*}} syncscope("agent") monotonic
  tile.return
}

// -----

// Counts are kept in LDS, cleared before the rows and added to device memory behind them.
// CHECK: llvm.mlir.global internal @ws_test.counts0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<9 x i32>
// CHECK: llvm.func @ws_test(
tile.kernel @counts(%x: !tile.tensor<[?, 64], i32>, %c: !tile.tensor<[?, 8], i64>, %n: i32) {
  %head = tile.group y
  // CHECK: scf.for
  // CHECK: llvm.getelementptr
  // CHECK: llvm.store
  // CHECK: llvm.fence syncscope("workgroup") release
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
  tile.for_rows %row of %n across x attributes {layout = #tile.rows<lanes = 16, chunk = 4, rows = 64>} {
    // CHECK: vector<4xi32>
    %v = tile.load_row %x[%row] : !tile.tensor<[?, 64], i32> -> !tile.tile<[64], i32>
    // CHECK-COUNT-4: llvm.atomicrmw add {{.*}} syncscope("workgroup") monotonic : !llvm.ptr<3>, i32
    // CHECK-NOT: llvm.atomicrmw
    tile.count %v into %c[%head] : !tile.tile<[64], i32>, !tile.tensor<[?, 8], i64>
  }
  // CHECK: rocdl.s.barrier
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw add {{.*}} syncscope("agent") monotonic : !llvm.ptr<1>, i64
  tile.return
}
