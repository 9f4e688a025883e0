// RUN: wavesmith-opt %s -wavesmith-assign-rows=rows=48 | FileCheck %s
// RUN: sed "s/\[96\]/[20]/; s/, 96\]/, 20]/" %s | not wavesmith-opt -wavesmith-assign-rows 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: sed "s/at 128/at 4/" %s | not wavesmith-opt -wavesmith-assign-rows 2>&1 | FileCheck %s --check-prefix=START
// RUN: not wavesmith-opt %s -wavesmith-assign-rows=rows=0 2>&1 | FileCheck %s --check-prefix=ROWS

// SIZE: starts or ends inside an access of 8 elements
// START: starts or ends inside an access of 8 elements
// ROWS: a workgroup does 1 to 1048576 rows, not 0

!halves = !tile.tensor<[?, 192], bf16>
!bytes = !tile.tensor<[?, 192], f8E4M3FNUZ>

tile.kernel @k(%a: !halves, %b: !bytes, %n: i32) {
  // 16 bytes are 8 of the widest elements; 8 lanes divide both 128 and the 64 behind it.
  // CHECK: tile.for_rows {{.*}} attributes {layout = #tile.rows<lanes = 8, chunk = 8, rows = 48>}
  tile.for_rows %row of %n across x {
    %x = tile.load_row %a[%row] : !halves -> !tile.tile<[128], bf16>
    %y = tile.load_row %b[%row] at 128 : !bytes -> !tile.tile<[64], f8E4M3FNUZ>
  }
  tile.return
}

tile.kernel @narrow(%a: !tile.tensor<[?, 96], bf16>, %n: i32) {
  // CHECK: tile.for_rows {{.*}} attributes {layout = #tile.rows<lanes = 4, chunk = 8, rows = 48>}
  tile.for_rows %row of %n across x {
    %x = tile.load_row %a[%row] : !tile.tensor<[?, 96], bf16> -> !tile.tile<[96], bf16>
  }
  tile.return
}

tile.kernel @wide(%a: !tile.tensor<[?, 512], f32>, %n: i32) {
  // CHECK: tile.for_rows {{.*}} attributes {layout = #tile.rows<lanes = 64, chunk = 4, rows = 48>}
  tile.for_rows %row of %n across x {
    %x = tile.load_row %a[%row] : !tile.tensor<[?, 512], f32> -> !tile.tile<[512], f32>
  }
  tile.return
}
