// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @quantize_concat

// Keys of multi-head latent attention to FP8: each row of y is a row of nope (128 elements) and one
// of rope (64 elements; with a head stride of 0 all heads share it), quantised as quantize does, one
// descale for both. A rotated row is what quantize makes of the concatenation: the blocks of its
// Hadamard transform are the two parts.

tile.param @input : type in [bf16, f16, f32] doc "element of nope and rope"
tile.param @output : type in [f8E4M3FNUZ, f8E4M3FN] doc "element of y"
tile.param @dynamic : i1 doc "descales from maxima"
tile.param @rotation : i32 doc "seed of the signs; 0: rows are not rotated"

!nopes = !tile.tensor<[?, ?, 128], input>
!ropes = !tile.tensor<[?, ?, 64], input>
!outputs = !tile.tensor<[?, ?, 192], output>
!heads = !tile.tensor<[?], f32>
!counts = !tile.tensor<[?], i64>
!raw_n = !tile.tile<[128], input>
!row_n = !tile.tile<[128], f32>
!flags_n = !tile.tile<[128], i32>
!result_n = !tile.tile<[128], output>
!raw_r = !tile.tile<[64], input>
!row_r = !tile.tile<[64], f32>
!flags_r = !tile.tile<[64], i32>
!result_r = !tile.tile<[64], output>

tile.kernel @quantize_concat(
    %nope: !nopes,
    %rope: !ropes,
    %y: !outputs,
    %descale: !heads,
    %amax: !heads,
    %saturated: !counts,
    %tokens: i32) {

  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %smallest = arith.constant 0x00800000 : f32 // the smallest whose inverse is finite
  %largest = tile.largest output
  // x / descale was rounded three times on its way: a maximum that made its descale is none.
  %slack = arith.constant 0x3F800004 : f32 // 1 + 2^-21
  %most = arith.mulf %largest, %slack : f32

  %head = tile.group y
  %d = tile.if dynamic -> (f32) {
    %m = tile.read %amax[%head] : !heads -> f32
    %share = arith.divf %m, %largest : f32
    %enough = arith.maxnumf %share, %smallest : f32
    %nothing = arith.cmpf oeq, %m, %zero : f32
    %made = arith.select %nothing, %one, %enough : f32
    %group = tile.group x
    %first = arith.cmpi eq, %group, %c0 : i32
    scf.if %first {
      tile.write %made to %descale[%head] : f32, !heads
    }
    tile.yield %made : f32
  } else {
    %given = tile.read %descale[%head] : !heads -> f32
    tile.yield %given : f32
  }
  %inverse = arith.divf %one, %d : f32

  tile.for_rows %token of %tokens across x {
    %raw_n = tile.load_row %nope[%token, %head] : !nopes -> !raw_n
    %plain_n = tile.convert %raw_n : !raw_n -> !row_n
    %row_n = tile.if rotation -> (!row_n) {
      %rotated = tile.rotate %plain_n seed rotation : !row_n
      tile.yield %rotated : !row_n
    } else {
      tile.yield %plain_n : !row_n
    }
    %scaled_n = tile.map(%e = %row_n) : (!row_n) -> !row_n {
      %r = arith.mulf %e, %inverse : f32
      tile.yield %r : f32
    }
    %beyond_n = tile.map(%e = %scaled_n) : (!row_n) -> !flags_n {
      %size = math.absf %e : f32
      %over = arith.cmpf ogt, %size, %most : f32
      %r = arith.select %over, %c1, %c0 : i32
      tile.yield %r : i32
    }
    %count_n = tile.reduce add %beyond_n : !flags_n -> i32
    tile.accumulate add %count_n into %saturated[%head] : i32, !counts
    %result_n = tile.convert %scaled_n : !row_n -> !result_n
    tile.store_row %result_n to %y[%token, %head] : !result_n, !outputs

    %raw_r = tile.load_row %rope[%token, %head] : !ropes -> !raw_r
    %plain_r = tile.convert %raw_r : !raw_r -> !row_r
    %row_r = tile.if rotation -> (!row_r) {
      %rotated = tile.rotate %plain_r at 128 seed rotation : !row_r
      tile.yield %rotated : !row_r
    } else {
      tile.yield %plain_r : !row_r
    }
    %scaled_r = tile.map(%e = %row_r) : (!row_r) -> !row_r {
      %r = arith.mulf %e, %inverse : f32
      tile.yield %r : f32
    }
    %beyond_r = tile.map(%e = %scaled_r) : (!row_r) -> !flags_r {
      %size = math.absf %e : f32
      %over = arith.cmpf ogt, %size, %most : f32
      %r = arith.select %over, %c1, %c0 : i32
      tile.yield %r : i32
    }
    %count_r = tile.reduce add %beyond_r : !flags_r -> i32
    tile.accumulate add %count_r into %saturated[%head] : i32, !counts
    %result_r = tile.convert %scaled_r : !row_r -> !result_r
    tile.store_row %result_r to %y[%token, %head] at 128 : !result_r, !outputs
  }
  tile.return
}
