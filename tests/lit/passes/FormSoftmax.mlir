// RUN: wavesmith-opt %s -wavesmith-form-softmax="sum=matrix order=windowed exponent=4 threshold=3.9" | FileCheck %s
// RUN: sed s/f8E4M3FNUZ/bf16/ %s | wavesmith-opt -wavesmith-form-softmax | FileCheck %s --check-prefix=DEFAULT
// RUN: not wavesmith-opt %s -wavesmith-form-softmax="exponent=4 threshold=4" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: sed s/f8E4M3FNUZ/f8E4M3FN/ %s | wavesmith-opt -wavesmith-form-softmax="exponent=4 threshold=4.8" | FileCheck %s --check-prefix=OCP
// RUN: sed s/f8E4M3FNUZ/f16/ %s | wavesmith-opt -wavesmith-form-softmax="exponent=7 threshold=8" | FileCheck %s --check-prefix=HALF
// RUN: sed s/f8E4M3FNUZ/f16/ %s | wavesmith-opt -wavesmith-form-softmax="rounding=truncated" | FileCheck %s --check-prefix=TRUNCATED
// RUN: not wavesmith-opt %s -wavesmith-form-softmax="rounding=truncated threshold=4" 2>&1 | FileCheck %s --check-prefix=CONVERT
// RUN: sed -e s/f8E4M3FNUZ/bf16/ -e s/gfx942/gfx950/ %s | not wavesmith-opt -wavesmith-form-softmax=rounding=truncated 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: not wavesmith-opt %s -wavesmith-form-softmax=rounding=up 2>&1 | FileCheck %s --check-prefix=ROUNDING
// RUN: sed s/f8E4M3FNUZ/f16/ %s | not wavesmith-opt -wavesmith-form-softmax="exponent=8 threshold=8" 2>&1 | FileCheck %s --check-prefix=HALFRANGE
// RUN: not wavesmith-opt %s -wavesmith-form-softmax="threshold=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not wavesmith-opt %s -wavesmith-form-softmax="threshold=nan" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not wavesmith-opt %s -wavesmith-form-softmax=sum=scalar 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: not wavesmith-opt %s -wavesmith-form-softmax=order=random 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: sed s/f8E4M3FNUZ/bf16/ %s | not wavesmith-opt -wavesmith-form-softmax=sum=matrix 2>&1 | FileCheck %s --check-prefix=ATOM
// RUN: sed s/f8E4M3FNUZ/f64/ %s | not wavesmith-opt -wavesmith-form-softmax 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: sed "s/attributes {target = .gfx942.}//" %s | not wavesmith-opt -wavesmith-form-softmax 2>&1 | FileCheck %s --check-prefix=TARGET

// RANGE: lets weights reach 2^({{.*}}4{{.*}} + {{.*}}4{{.*}}): want a threshold from 0 and a sum of at most {{.*}} for 'f8E4M3FNUZ'
// HALFRANGE: want a threshold from 0 and a sum of at most 1.5{{.*}}e+01 for 'f16'
// NEGATIVE: want a threshold from 0
// CONVERT: gfx942 rounds weights of 'f8E4M3FNUZ' in one instruction a pair; want nearest
// PACKED: gfx950 rounds weights of 'bf16' in one instruction a pair; want nearest
// ROUNDING: rounding 'up' is neither nearest nor truncated
// SUM: row sum 'scalar' is neither vector nor matrix
// ORDER: order 'random' is neither pipelined nor windowed
// ATOM: gfx942 has no matrix instruction for sums of 'bf16'; want vector
// ELEMENT: has weights of 'f64', which no product takes
// TARGET: has no target; run wavesmith-select-atoms first

!rows = !tile.tile<[256], f32>
!sums = !tile.tile<[256, 64], f32>
tile.kernel @k(%s: !tile.tile<[256, 64], f32>, %m: !rows, %o: !sums, %scale: f32) attributes {target = "gfx942"} {
  // CHECK: tile.online_softmax {{.*}} {form = #tile.softmax<matrix, windowed, nearest, exponent = 4.000000e+00 : f32, threshold = 3.900000e+00 : f32>}
  // DEFAULT: {form = #tile.softmax<vector, pipelined, nearest, exponent = 0.000000e+00 : f32, threshold = 8.000000e+00 : f32>}
  // OCP: {form = #tile.softmax<vector, pipelined, nearest, exponent = 4.000000e+00 : f32, threshold = 4.800000e+00 : f32>}
  // TRUNCATED: {form = #tile.softmax<vector, pipelined, truncated, exponent = 0.000000e+00 : f32
  // HALF: {form = #tile.softmax<vector, pipelined, nearest, exponent = 7.000000e+00 : f32, threshold = 8.000000e+00 : f32>}
  %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 64], f32>, !rows, !rows, !sums, f32 -> <[256, 64], f8E4M3FNUZ>, !rows, !rows, !sums
  tile.return
}
