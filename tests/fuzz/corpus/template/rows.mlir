tile.param @dim : i32 in [64, 192] doc "elements"
tile.param @input : type in [bf16, f16, f32] doc "element"
tile.param @seed : i32 in [7, 0] doc "rotation"
!rows = !tile.tensor<[?, ?, dim], input>
!codes = !tile.tensor<[?, 4, dim], f8E4M3FNUZ>
!raw = !tile.tile<[dim], input>
!row = !tile.tile<[dim], f32>
tile.kernel @k(%x: !rows, %y: !codes, %c: !tile.tensor<[?], i64>, %s: !tile.tensor<[?], f32>, %n: i32) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %head = tile.group y
  %v = tile.read %s[%head] : !tile.tensor<[?], f32> -> f32
  %top = tile.largest f8E4M3FNUZ
  %first = arith.cmpi eq, %head, %c0 : i32
  scf.if %first {
    tile.write %v to %s[%c1] : f32, !tile.tensor<[?], f32>
  }
  tile.for_rows %row of %n across x {
    %start = tile.splat %v : f32 -> !row
    %sum, %w = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %b = %zero) -> (!row, f32) : i32 {
      %raw = tile.load_row %x[%row, %i] : !rows -> !raw
      %e = tile.convert %raw : !raw -> !row
      %t = tile.map(%p = %a, %q = %e) : (!row, !row) -> !row {
        %d = math.exp %q : f32
        %r = math.fma %d, %v, %p : f32
        tile.yield %r : f32
      }
      %m = tile.reduce max %t : !row -> f32
      scf.yield %t, %m : !row, f32
    }
    %turned = tile.if seed -> (!row) {
      %r = tile.rotate %sum at 128 seed seed : !row
      tile.yield %r : !row
    } else {
      tile.yield %sum : !row
    }
    %code = tile.convert %turned : !row -> !tile.tile<[dim], f8E4M3FNUZ>
    tile.store_row %code to %y[%row, %head] : !tile.tile<[dim], f8E4M3FNUZ>, !codes
    tile.accumulate add %c1 into %c[%head] : i32, !tile.tensor<[?], i64>
    tile.accumulate max %w into %s[%head] : f32, !tile.tensor<[?], f32>
  }
  tile.return
}
