// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'index' is a builtin keyword; a parameter needs another name}}
tile.param @index : i32 doc "d"

// -----

// expected-error@+1 {{'i32' is a builtin keyword}}
tile.param @i32 : i32 doc "d"

// -----

// expected-error@+1 {{'block-m' is not a bare identifier}}
tile.param @"block-m" : i32 doc "d"

// -----

// expected-error@+1 {{allowed value bf16 is not of kind i32}}
tile.param @x : i32 in [32, bf16] doc "d"

// -----

// expected-error@+1 {{expected i1, i32 or type}}
tile.param @x : i64 doc "d"

// -----

// expected-error@+1 {{takes (score: f32, query: i32, key: i32, len_q: i32, len_kv: i32)}}
tile.score @s(%score: f32) {
  tile.return %score : f32
}

// -----

// expected-error@+1 {{ends in tile.return of one f32}}
tile.score @s(%score: f32, %q: i32, %k: i32, %lq: i32, %lk: i32) {
  tile.return
}

// -----

// expected-error@+1 {{a dimension is positive, not 0}}
tile.kernel @k(%x: !tile.tile<[0], f32>) {
  tile.return
}

// -----

// expected-error@+1 {{a dimension is a positive integer or a parameter}}
tile.kernel @k(%x: !tile.tile<[bf16], f32>) {
  tile.return
}

// -----

// expected-error@+1 {{a number has at most 32 bits, not 4294967328}}
tile.kernel @k(%x: !tile.tile<[4294967328], f32>) {
  tile.return
}

// -----

// expected-error@+1 {{a tile has one or two dimensions, not 3}}
tile.kernel @k(%x: !tile.tile<[1, 2, 3], f32>) {
  tile.return
}

// -----

// expected-error@+1 {{an element is a float type, i32, i64 or a parameter, not i16}}
tile.kernel @k(%x: !tile.tile<[8], i16>) {
  tile.return
}

// -----

// expected-error@+1 {{a layout is a #tile.mma}}
tile.kernel @k(%x: !tile.tile<[8], f32, 7>) {
  tile.return
}

// -----

tile.kernel @k(%a: !tile.tile<[32, 64], bf16>, %b: !tile.tile<[32, 32], bf16>) {
  // expected-error@+1 {{contracts dimensions that differ}}
  %r = tile.dot %a, %b transposed : <[32, 64], bf16>, <[32, 32], bf16> -> <[32, 32], f32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.tile<[32, 64], bf16>, %b: !tile.tile<[64, 32], bf16>) {
  // expected-error@+1 {{result is not [rows of lhs, columns of rhs]}}
  %r = tile.dot %a, %b : <[32, 64], bf16>, <[64, 32], bf16> -> <[32, 64], f32>
  tile.return
}

// -----

tile.kernel @k(%a: !tile.tile<[32, 64], bf16>, %b: !tile.tile<[64, 32], f32>) {
  // expected-error@+1 {{operands differ in element}}
  %r = tile.dot %a, %b : <[32, 64], bf16>, <[64, 32], f32> -> <[32, 32], f32>
  tile.return
}

// -----

tile.kernel @k(%t: !tile.tensor<[?, ?, 64], bf16>, %work: !tile.work) {
  %u = tile.work_unit %work
  // expected-error@+1 {{tile and tensor differ in their last dimension}}
  %a = tile.load %t[%u : !tile.unit] : <[?, ?, 64], bf16> -> <[256, 32], bf16>
  tile.return
}

// -----

tile.kernel @k(%t: !tile.tensor<[?, ?, 64], bf16>, %work: !tile.work) {
  %u = tile.work_unit %work
  // expected-error@+1 {{tile and tensor differ in element}}
  %a = tile.load %t[%u : !tile.unit] : <[?, ?, 64], bf16> -> <[256, 64], f32>
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  // expected-error@+1 {{has results, so it needs an else region}}
  %a = tile.if flag -> (f32) {
    tile.yield %x : f32
  }
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  // expected-error@+1 {{condition is a parameter, a boolean or a number, not bf16}}
  tile.if bf16 {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  tile.if flag {
    // expected-error@+1 {{yields 1 values whose types differ from the results of tile.if}}
    tile.yield %x : f32
  }
  tile.return
}

// -----

tile.kernel @k(%work: !tile.work, %x: f32, %y: i32) {
  %u = tile.work_unit %work
  // expected-error@+1 {{carried values, yielded values and results differ in type}}
  %r = tile.for_keys %keys of %u step 32 iter(%a = %x) -> (f32) {
    tile.yield %y : i32
  }
  tile.return
}

// -----

tile.kernel @k(%work: !tile.work) {
  %u = tile.work_unit %work
  // expected-error@+1 {{with 0 carried values needs 2 body arguments, has 1}}
  tile.for_keys %keys of %u step 32 attributes {schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 3>} {
    tile.yield
  }
  tile.return
}

// -----

// expected-error@+1 {{takes (score: f32, query: i32, key: i32, len_q: i32, len_kv: i32), then i32 and f32}}
tile.score @s(%score: f32, %q: i32, %k: i32, %lq: i32, %lk: i32, %left: i64) {
  tile.return %score : f32
}

// -----

tile.kernel @k(%s: !tile.tile<[256, 32], f32>, %work: !tile.work) {
  %u = tile.work_unit %work
  %keys = tile.first_keys %u
  // expected-error@+1 {{there is no score function @nowhere}}
  %a = tile.apply @nowhere(%s) at(%u, %keys) : <[256, 32], f32> -> <[256, 32], f32>
  tile.return
}

// -----

tile.score @s(%score: f32, %q: i32, %k: i32, %lq: i32, %lk: i32, %left: i32) {
  tile.return %score : f32
}
tile.kernel @k(%s: !tile.tile<[256, 32], f32>, %work: !tile.work, %x: f32) {
  %u = tile.work_unit %work
  %keys = tile.first_keys %u
  // expected-error@+1 {{gives @s 1 values that differ from its arguments behind the lengths (1)}}
  %a = tile.apply @s(%s) at(%u, %keys) with(%x : f32) : <[256, 32], f32> -> <[256, 32], f32>
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  %r = tile.phase vector -> (i32) {
    // expected-error@+1 {{yields 1 values whose types differ from the results of tile.phase}}
    tile.yield %x : f32
  }
  tile.return
}
