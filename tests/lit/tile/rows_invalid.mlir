// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics

tile.kernel @k(%n: i32) {
  tile.for_rows %row of %n across x {
    // expected-error@+1 {{does not nest}}
    tile.for_rows %inner of %n across y {
    }
  }
  tile.return
}

// -----

tile.kernel @k(%n: i32) {
  // expected-error@+1 {{expected x or y, not 'z'}}
  tile.for_rows %row of %n across z {
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 8], f32>, %n: i32) {
  // expected-error@+1 {{needs 2 indices, has 1}}
  %v = tile.read %x[%n] : !tile.tensor<[?, 8], f32> -> f32
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[8, ?], f32>, %n: i32) {
  // expected-error@+1 {{'?' follows a fixed dimension}}
  %v = tile.read %x[%n, %n] : !tile.tensor<[8, ?], f32> -> f32
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?], i32>, %n: i32) {
  // expected-error@+1 {{value is 'f32', an element of the tensor is i32}}
  %v = tile.read %x[%n] : !tile.tensor<[?], i32> -> f32
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], f32>, %n: i32) {
  // expected-error@+1 {{belongs into tile.for_rows}}
  %v = tile.load_row %x[%n] : !tile.tensor<[?, 64], f32> -> !tile.tile<[64], f32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], f32>, %n: i32) {
  tile.for_rows %row of %n across x {
    // expected-error@+1 {{elements 32 to 96 are not all among the tensor's 64}}
    %v = tile.load_row %x[%row] at 32 : !tile.tensor<[?, 64], f32> -> !tile.tile<[64], f32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, ?], f32>, %n: i32) {
  tile.for_rows %row of %n across x {
    // expected-error@+1 {{the last dimension of the tensor must be fixed}}
    %v = tile.load_row %x[%row] : !tile.tensor<[?, ?], f32> -> !tile.tile<[64], f32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?], f32>, %n: i32, %v: f32) {
  tile.for_rows %row of %n across x {
    // expected-error@+1 {{indices are the same for all rows}}
    tile.accumulate max %v into %x[%row] : f32, !tile.tensor<[?], f32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?], f32>, %n: i32, %v: f32) {
  tile.for_rows %row of %n across x {
    // expected-error@+1 {{sums of 'f32' depend on the order; only i32 is added}}
    tile.accumulate add %v into %x[%n] : f32, !tile.tensor<[?], f32>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?], i32>, %n: i32) {
  // expected-error@+1 {{stands directly in tile.for_rows}}
  tile.accumulate max %n into %x[%n] : i32, !tile.tensor<[?], i32>
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], i32>, %c: !tile.tensor<[?, ?], i64>, %n: i32) {
  tile.for_rows %row of %n across x {
    %v = tile.load_row %x[%row] : !tile.tensor<[?, 64], i32> -> !tile.tile<[64], i32>
    // expected-error@+1 {{the last dimension of the tensor must be fixed}}
    tile.count %v into %c[%n] : !tile.tile<[64], i32>, !tile.tensor<[?, ?], i64>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], i32>, %c: !tile.tensor<[?, 8], i64>, %n: i32) {
  tile.for_rows %row of %n across x {
    %v = tile.load_row %x[%row] : !tile.tensor<[?, 64], i32> -> !tile.tile<[64], i32>
    // expected-error@+1 {{needs 1 indices, has 2}}
    tile.count %v into %c[%n, %n] : !tile.tile<[64], i32>, !tile.tensor<[?, 8], i64>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], i32>, %c: !tile.tensor<[?, 8], i64>, %n: i32) {
  tile.for_rows %row of %n across x {
    %v = tile.load_row %x[%row] : !tile.tensor<[?, 64], i32> -> !tile.tile<[64], i32>
    // expected-error@+1 {{indices are the same for all rows}}
    tile.count %v into %c[%row] : !tile.tile<[64], i32>, !tile.tensor<[?, 8], i64>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], f32>, %c: !tile.tensor<[?, 8], i64>, %n: i32) {
  tile.for_rows %row of %n across x {
    %v = tile.load_row %x[%row] : !tile.tensor<[?, 64], f32> -> !tile.tile<[64], f32>
    // expected-error@+1 {{classes are i32, not f32}}
    tile.count %v into %c[%n] : !tile.tile<[64], f32>, !tile.tensor<[?, 8], i64>
  }
  tile.return
}

// -----

tile.kernel @k(%x: !tile.tensor<[?, 64], i32>, %c: !tile.tensor<[?, 8], f32>, %n: i32) {
  tile.for_rows %row of %n across x {
    %v = tile.load_row %x[%row] : !tile.tensor<[?, 64], i32> -> !tile.tile<[64], i32>
    // expected-error@+1 {{counts are i32 or i64, not f32}}
    tile.count %v into %c[%n] : !tile.tile<[64], i32>, !tile.tensor<[?, 8], f32>
  }
  tile.return
}

// -----

tile.kernel @k(%v: f32) {
  // expected-error@+1 {{value and elements differ in type}}
  %t = tile.splat %v : f32 -> !tile.tile<[64], i32>
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{needs a float type or a parameter, not i32}}
  %t = tile.largest i32
  tile.return
}

// -----

tile.kernel @k(%v: f32) {
  %t = tile.splat %v : f32 -> !tile.tile<[64], f32>
  // expected-error@+1 {{inputs and result differ in size}}
  %m = tile.map(%a = %t) : (!tile.tile<[64], f32>) -> !tile.tile<[32], f32> {
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @k(%v: f32) {
  %t = tile.splat %v : f32 -> !tile.tile<[64], f32>
  // expected-error@+1 {{yields one element of the result}}
  %m = tile.map(%a = %t) : (!tile.tile<[64], f32>) -> !tile.tile<[64], i32> {
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.kernel @k(%v: f32) {
  %t = tile.splat %v : f32 -> !tile.tile<[64], f32>
  // expected-error@+1 {{needs a number or a parameter as seed, not bf16}}
  %h = tile.rotate %t seed bf16 : !tile.tile<[64], f32>
  tile.return
}

// -----

tile.kernel @k(%v: f32) {
  %t = tile.splat %v : f32 -> !tile.tile<[64], f32>
  // expected-error@+1 {{input and result differ in size}}
  %h = tile.convert %t : !tile.tile<[64], f32> -> !tile.tile<[32], bf16>
  tile.return
}

// -----

tile.kernel @k(%v: i32) {
  %t = tile.splat %v : i32 -> !tile.tile<[64], i32>
  // expected-error@+1 {{converts between float types}}
  %h = tile.convert %t : !tile.tile<[64], i32> -> !tile.tile<[64], bf16>
  tile.return
}

// -----

tile.kernel @k(%v: f32) {
  %t = tile.splat %v : f32 -> !tile.tile<[64], f32>
  // expected-error@+1 {{elements and result differ in type}}
  %m = tile.reduce add %t : !tile.tile<[64], f32> -> i32
  tile.return
}
