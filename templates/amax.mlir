// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @amax

// Raises amax[head], not negative, to the largest finite |x| of the head: what quantize makes a
// descale of. A head stride of 0 gives one maximum for the tensor. With `rotation` rows are rotated
// first, as there; `first_column` is where they begin in a row that several tensors make up.

tile.param @head_dim : i32 in [64, 128, 192, 256] doc "elements of a row"
tile.param @input : type in [bf16, f16, f32] doc "element of x"
tile.param @rotation : i32 doc "seed of the signs; 0: rows are not rotated"
tile.param @first_column : i32 in [0, 128] doc "column of the first element"

!inputs = !tile.tensor<[?, ?, head_dim], input>
!raw = !tile.tile<[head_dim], input>
!row = !tile.tile<[head_dim], f32>
!heads = !tile.tensor<[?], f32>

tile.kernel @amax(%x: !inputs, %amax: !heads, %tokens: i32) {
  %zero = arith.constant 0.0 : f32
  %infinite = arith.constant 0x7F800000 : f32

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
    %sizes = tile.map(%e = %row) : (!row) -> !row {
      %size = math.absf %e : f32
      %finite = arith.cmpf olt, %size, %infinite : f32
      %r = arith.select %finite, %size, %zero : f32
      tile.yield %r : f32
    }
    %largest = tile.reduce max %sizes : !row -> f32
    tile.accumulate max %largest into %amax[%head] : f32, !heads
  }
  tile.return
}
