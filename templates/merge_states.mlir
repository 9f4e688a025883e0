// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @merge_states

// Merges two attention outputs over disjoint keys, a (the prefix) and b (the suffix): with
// m = max(lse_a, lse_b) and w = exp(lse - m), out = (w_a a + w_b b) / (w_a + w_b) and
// lse = m + ln(w_a + w_b). A state with lse = -inf, or +inf as some producers write it, saw no key:
// what its rows hold does not count. Two of them give out = 0 and lse = -inf. From token `merged` on
// b alone counts. The results may replace a or b: a row is read before it is written, by the same
// lanes.

tile.param @head_dim_v : i32 in [64, 128, 256] doc "elements of a value"
tile.param @element : type in [bf16, f16, f32] doc "element of both states and of the result"

!states = !tile.tensor<[?, ?, head_dim_v], element>
!logs = !tile.tensor<[?, ?], f32>
!raw = !tile.tile<[head_dim_v], element>
!row = !tile.tile<[head_dim_v], f32>

tile.kernel @merge_states(
    %a: !states,
    %lse_a: !logs,
    %b: !states,
    %lse_b: !logs,
    %out: !states,
    %lse: !logs,
    %tokens: i32,
    %merged: i32) {

  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %none = arith.constant 0xFF800000 : f32 // -inf
  %infinite = arith.constant 0x7F800000 : f32

  %head = tile.group y
  tile.for_rows %token of %tokens across x {
    %la = tile.read %lse_a[%head, %token] : !logs -> f32
    %lb = tile.read %lse_b[%head, %token] : !logs -> f32
    %foreign_a = arith.cmpf oeq, %la, %infinite : f32
    %suffix = arith.cmpi sge, %token, %merged : i32
    %without_a = arith.ori %foreign_a, %suffix : i1
    %sa = arith.select %without_a, %none, %la : f32
    %foreign_b = arith.cmpf oeq, %lb, %infinite : f32
    %sb = arith.select %foreign_b, %none, %lb : f32

    %m = arith.maxnumf %sa, %sb : f32
    %empty = arith.cmpf oeq, %m, %none : f32
    %reference = arith.select %empty, %zero, %m : f32
    %da = arith.subf %sa, %reference : f32
    %wa = math.exp %da : f32
    %db = arith.subf %sb, %reference : f32
    %wb = math.exp %db : f32
    %sum = arith.addf %wa, %wb : f32
    %nothing = arith.cmpf oeq, %sum, %zero : f32
    %inverse = arith.divf %one, %sum : f32
    %factor = arith.select %nothing, %zero, %inverse : f32
    %counts_a = arith.cmpf ogt, %wa, %zero : f32
    %counts_b = arith.cmpf ogt, %wb, %zero : f32

    %raw_a = tile.load_row %a[%token, %head] : !states -> !raw
    %raw_b = tile.load_row %b[%token, %head] : !states -> !raw
    %row_a = tile.convert %raw_a : !raw -> !row
    %row_b = tile.convert %raw_b : !raw -> !row
    %mean = tile.map(%ea = %row_a, %eb = %row_b) : (!row, !row) -> !row {
      // Not by multiplication: what an empty state holds may be NaN.
      %xa = arith.select %counts_a, %ea, %zero : f32
      %xb = arith.select %counts_b, %eb, %zero : f32
      %pa = arith.mulf %wa, %xa : f32
      %both = math.fma %wb, %xb, %pa : f32
      %r = arith.mulf %both, %factor : f32
      tile.yield %r : f32
    }
    %result = tile.convert %mean : !row -> !raw
    tile.store_row %result to %out[%token, %head] : !raw, !states
    %log = math.log %sum : f32
    %row_lse = arith.addf %m, %log : f32
    tile.write %row_lse to %lse[%head, %token] : f32, !logs
  }
  tile.return
}
