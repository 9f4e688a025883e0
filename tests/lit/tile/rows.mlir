// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// Every row operation prints as it is read.

tile.param @dim : i32 in [64, 128] doc "elements of a row"

!rows = !tile.tensor<[?, ?, dim], bf16>
!raw = !tile.tile<[dim], bf16>
!row = !tile.tile<[dim], f32>

// CHECK: tile.kernel @k(%[[X:.*]]: !tile.tensor<[?, ?, dim], bf16>, %[[S:.*]]: !tile.tensor<[?], f32>, %[[C:.*]]: !tile.tensor<[?], i64>, %[[D:.*]]: !tile.tensor<[?, 256], i64>, %[[N:.*]]: i32)
tile.kernel @k(%x: !rows, %s: !tile.tensor<[?], f32>, %c: !tile.tensor<[?], i64>, %d: !tile.tensor<[?, 256], i64>, %n: i32) {
  %one = arith.constant 1 : i32
  // CHECK: %[[H:.*]] = tile.group y
  %head = tile.group y
  // CHECK: %[[V:.*]] = tile.read %[[S]][%[[H]]] : <[?], f32> -> f32
  %v = tile.read %s[%head] : !tile.tensor<[?], f32> -> f32
  // CHECK: tile.for_rows %[[R:.*]] of %[[N]] across x {
  tile.for_rows %row of %n across x {
    // CHECK: %[[A:.*]] = tile.load_row %[[X]][%[[R]], %[[H]]] at 64 : <[?, ?, dim], bf16> -> <[dim], bf16>
    %raw = tile.load_row %x[%row, %head] at 64 : !rows -> !raw
    // CHECK: %[[B:.*]] = tile.convert %[[A]] : <[dim], bf16> -> <[dim], f32>
    %a = tile.convert %raw : !raw -> !row
    // CHECK: %[[U:.*]] = tile.rotate %[[B]] at dim seed 3 : <[dim], f32>
    %u = tile.rotate %a at dim seed 3 : !row
    // CHECK: %[[T:.*]] = tile.rotate %[[U]] seed 7 : <[dim], f32>
    %t = tile.rotate %u seed 7 : !row
    // CHECK: tile.largest f8E4M3FN
    %l = tile.largest f8E4M3FN
    // CHECK: %[[O:.*]] = tile.splat %[[V]] : f32 -> <[dim], f32>
    %o = tile.splat %v : f32 -> !row
    // CHECK: %[[M:.*]] = tile.map(%[[P:.*]] = %[[T]], %[[Q:.*]] = %[[O]]) : (!tile.tile<[dim], f32>, !tile.tile<[dim], f32>) -> !tile.tile<[dim], f32> {
    %m = tile.map(%p = %t, %q = %o) : (!row, !row) -> !row {
      // CHECK: arith.mulf %[[P]], %[[Q]] : f32
      %y = arith.mulf %p, %q : f32
      // CHECK: tile.yield
      tile.yield %y : f32
    }
    // CHECK: %[[E:.*]] = tile.reduce max %[[M]] : <[dim], f32> -> f32
    %e = tile.reduce max %m : !row -> f32
    // CHECK: tile.write %[[E]] to %[[S]][%[[R]]] : f32, <[?], f32>
    tile.write %e to %s[%row] : f32, !tile.tensor<[?], f32>
    // CHECK: tile.accumulate add %{{.*}} into %[[C]][%[[H]]] : i32, <[?], i64>
    tile.accumulate add %one into %c[%head] : i32, !tile.tensor<[?], i64>
    // CHECK: %[[K:.*]] = tile.map
    %k = tile.map(%p = %m) : (!row) -> !tile.tile<[dim], i32> {
      tile.yield %one : i32
    }
    // CHECK: tile.count %[[K]] into %[[D]][%[[H]]] : <[dim], i32>, <[?, 256], i64>
    tile.count %k into %d[%head] : !tile.tile<[dim], i32>, !tile.tensor<[?, 256], i64>
    // CHECK: tile.store_row %[[A]] to %[[X]][%[[R]], %[[H]]] : <[dim], bf16>, <[?, ?, dim], bf16>
    tile.store_row %raw to %x[%row, %head] : !raw, !rows
  }
  // CHECK: tile.for_rows %{{.*}} of %[[N]] across y attributes {layout = #tile.rows<lanes = 16, chunk = 8, rows = 64>} {
  tile.for_rows %row of %n across y attributes {layout = #tile.rows<lanes = 16, chunk = 8, rows = 64>} {
  }
  tile.return
}
