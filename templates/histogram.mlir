// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @histogram

// Adds to counts[head, c] how many elements of x have a magnitude of class c: eight classes an octave
// from 2^-20 on (runtime/spec/MagnitudeClasses.h). What is not finite does not count. With `rotation`
// rows are rotated first, as in quantize; `first_column` is where they begin in a row that several
// tensors make up.

tile.param @head_dim : i32 in [64, 128, 192, 256] doc "elements of a row"
tile.param @input : type in [bf16, f16, f32] doc "element of x"
tile.param @rotation : i32 doc "seed of the signs; 0: rows are not rotated"
tile.param @first_column : i32 in [0, 128] doc "column of the first element"

!inputs = !tile.tensor<[?, ?, head_dim], input>
!raw = !tile.tile<[head_dim], input>
!row = !tile.tile<[head_dim], f32>
!classes = !tile.tile<[head_dim], i32>
!counts = !tile.tensor<[?, 256], i64>

tile.kernel @histogram(%x: !inputs, %counts: !counts, %tokens: i32) {
  %infinite = arith.constant 0x7F800000 : f32
  %none = arith.constant -1 : i32
  %c0 = arith.constant 0 : i32
  %last = arith.constant 255 : i32
  %low_bits = arith.constant 20 : i32   // of the mantissa, which make no difference
  %smallest = arith.constant 856 : i32  // 8 * (127 - 20): that of 2^-20

  %head = tile.group y
  tile.for_rows %token of %tokens across x {
    %raw = tile.load_row %x[%token, %head] : !inputs -> !raw
    %plain = tile.convert %raw : !raw -> !row
    %row = tile.if rotation -> (!row) {
      %rotated = tile.rotate %plain at first_column seed rotation : !row
      tile.yield %rotated : !row
    } else {
      tile.yield %plain : !row
    }
    %classes = tile.map(%e = %row) : (!row) -> !classes {
      %size = math.absf %e : f32
      %bits = arith.bitcast %size : f32 to i32
      %octave = arith.shrui %bits, %low_bits : i32
      %above = arith.subi %octave, %smallest : i32
      %from_first = arith.maxsi %above, %c0 : i32
      %class = arith.minsi %from_first, %last : i32
      %finite = arith.cmpf olt, %size, %infinite : f32
      %r = arith.select %finite, %class, %none : i32
      tile.yield %r : i32
    }
    tile.count %classes into %counts[%head] : !classes, !counts
  }
  tile.return
}
