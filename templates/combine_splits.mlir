// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @combine_splits

// Reduces the partial results of keys that were split: for each row, with m = max of the partials'
// lse_s and w_s = exp(lse_s - m), out = (sum of w_s out_s) / (sum of w_s) and
// lse = m + ln(sum of w_s). Slots are taken in their order. A partial with lse = -inf, or +inf as
// some producers write it, saw no key: whatever its out holds does not count. Without any other
// partial, out = 0 and lse = -inf. A NaN in lse shows in out and lse.

tile.param @head_dim_v : i32 in [64, 128, 256] doc "elements of a value"
tile.param @write_lse : i1 doc "store the logarithm of each row's sum"
tile.param @output : type in [bf16, f16] doc "element of out"

!partials = !tile.tensor<[?, 256, head_dim_v], f32>
!partial_logs = !tile.tensor<[?, 256], f32>
// CombineUnit: first row, rows, head, first slot, slots.
!units = !tile.tensor<[?, 8], i32>
!outputs = !tile.tensor<[?, ?, head_dim_v], output>
!logs = !tile.tensor<[?, ?], f32>
!sums = !tile.tile<[head_dim_v], f32>
!result = !tile.tile<[head_dim_v], output>

tile.kernel @combine_splits(
    %partial_out: !partials,
    %partial_lse: !partial_logs,
    %units: !units,
    %out: !outputs,
    %lse: !logs) {

  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %none = arith.constant 0xFF800000 : f32 // -inf
  %infinite = arith.constant 0x7F800000 : f32

  %unit = tile.group x
  %first_row = tile.read %units[%unit, %c0] : !units -> i32
  %rows = tile.read %units[%unit, %c1] : !units -> i32
  %head = tile.read %units[%unit, %c2] : !units -> i32
  %first = tile.read %units[%unit, %c3] : !units -> i32
  %slots = tile.read %units[%unit, %c4] : !units -> i32
  %end = arith.addi %first, %slots : i32

  tile.for_rows %row of %rows across y {
    // The largest, as the reference of the weights; without one, any number does.
    %m = scf.for %s = %first to %end step %c1 iter_args(%mi = %none) -> (f32) : i32 {
      %l = tile.read %partial_lse[%s, %row] : !partial_logs -> f32
      %foreign = arith.cmpf oeq, %l, %infinite : f32
      %ls = arith.select %foreign, %none, %l : f32
      %mn = arith.maxnumf %mi, %ls : f32
      scf.yield %mn : f32
    }
    %empty = arith.cmpf oeq, %m, %none : f32
    %reference = arith.select %empty, %zero, %m : f32

    %o0 = tile.splat %zero : f32 -> !sums
    %sum, %o = scf.for %s = %first to %end step %c1
        iter_args(%wi = %zero, %oi = %o0) -> (f32, !sums) : i32 {
      %l = tile.read %partial_lse[%s, %row] : !partial_logs -> f32
      %foreign = arith.cmpf oeq, %l, %infinite : f32
      %ls = arith.select %foreign, %none, %l : f32
      %distance = arith.subf %ls, %reference : f32
      %w = math.exp %distance : f32
      %counts = arith.cmpf ogt, %w, %zero : f32
      %x = tile.load_row %partial_out[%s, %row] : !partials -> !sums
      %on = tile.map(%oe = %oi, %xe = %x) : (!sums, !sums) -> !sums {
        // Not by multiplication: what an empty partial holds may be NaN.
        %sane = arith.select %counts, %xe, %zero : f32
        %r = math.fma %w, %sane, %oe : f32
        tile.yield %r : f32
      }
      %wn = arith.addf %wi, %w : f32
      scf.yield %wn, %on : f32, !sums
    }

    %nothing = arith.cmpf oeq, %sum, %zero : f32
    %inverse = arith.divf %one, %sum : f32
    %factor = arith.select %nothing, %zero, %inverse : f32
    %mean = tile.map(%oe = %o) : (!sums) -> !sums {
      %r = arith.mulf %oe, %factor : f32
      tile.yield %r : f32
    }
    %packed_row = arith.addi %first_row, %row : i32
    %result = tile.convert %mean : !sums -> !result
    tile.store_row %result to %out[%packed_row, %head] : !result, !outputs
    tile.if write_lse {
      %log = math.log %sum : f32
      %row_lse = arith.addf %m, %log : f32
      tile.write %row_lse to %lse[%head, %packed_row] : f32, !logs
      tile.yield
    }
  }
  tile.return
}
