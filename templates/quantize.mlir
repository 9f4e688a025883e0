// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @quantize

// x to FP8 (e4m3, the target's format): y = x / descale[head], to nearest even, saturating; NaN stays
// NaN. x / descale is x * (1 / descale) in float32, each of them rounded. saturated[head] grows by
// the number of elements beyond the largest value, but for what roundings may have added to it.
//
// With `dynamic`, descale[head] = amax[head] / largest value is made and stored here, of the maximum
// that the kernel amax found; a maximum of 0 gives 1. With `rotation` rows are rotated first: signs
// from this seed, then an orthonormal blockwise Hadamard transform. Scores of rotated queries and
// keys are those of the originals, outlier channels are spread over all.

tile.param @head_dim : i32 in [64, 128, 192, 256] doc "elements of a row"
tile.param @input : type in [bf16, f16, f32] doc "element of x"
tile.param @output : type in [f8E4M3FNUZ, f8E4M3FN] doc "element of y"
tile.param @dynamic : i1 doc "descales from maxima"
tile.param @rotation : i32 doc "seed of the signs; 0: rows are not rotated"

!inputs = !tile.tensor<[?, ?, head_dim], input>
!outputs = !tile.tensor<[?, ?, head_dim], output>
!heads = !tile.tensor<[?], f32>
!counts = !tile.tensor<[?], i64>
!raw = !tile.tile<[head_dim], input>
!row = !tile.tile<[head_dim], f32>
!flags = !tile.tile<[head_dim], i32>
!result = !tile.tile<[head_dim], output>

tile.kernel @quantize(
    %x: !inputs,
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
    %raw = tile.load_row %x[%token, %head] : !inputs -> !raw
    %plain = tile.convert %raw : !raw -> !row
    %row = tile.if rotation -> (!row) {
      %rotated = tile.rotate %plain seed rotation : !row
      tile.yield %rotated : !row
    } else {
      tile.yield %plain : !row
    }
    %scaled = tile.map(%e = %row) : (!row) -> !row {
      %r = arith.mulf %e, %inverse : f32
      tile.yield %r : f32
    }
    %beyond = tile.map(%e = %scaled) : (!row) -> !flags {
      %size = math.absf %e : f32
      %over = arith.cmpf ogt, %size, %most : f32
      %r = arith.select %over, %c1, %c0 : i32
      tile.yield %r : i32
    }
    %count = tile.reduce add %beyond : !flags -> i32
    tile.accumulate add %count into %saturated[%head] : i32, !counts
    %result = tile.convert %scaled : !row -> !result
    tile.store_row %result to %y[%token, %head] : !result, !outputs
  }
  tile.return
}
