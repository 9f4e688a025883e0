// RUN: wavesmith-opt %s -wavesmith-bind-parameters=values=rows=64,fast=true,input=bf16 | FileCheck %s
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=64,fast=true 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=48,fast=true,input=bf16 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=many,fast=true,input=bf16 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=64,fast=1,input=bf16 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=64,fast=true,input=f16 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=64,fast=true,input=bf16,more=1 2>&1 | FileCheck %s --check-prefix=EXTRA
// RUN: not wavesmith-opt %s -wavesmith-bind-parameters=values=rows=64,rows=32,fast=true,input=bf16 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: sed "s/step rows/step columns/" %s | not wavesmith-opt -wavesmith-bind-parameters=values=rows=64,fast=true,input=bf16 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// RUN: sed "s/%work: /%misfit: !tile.tile<[input], f32>, %work: /" %s | not wavesmith-opt -wavesmith-bind-parameters=values=rows=64,fast=true,input=bf16 2>&1 | FileCheck %s --check-prefix=MISFIT

// MISSING: parameter 'input' has no value
// RANGE: parameter 'rows' is i32 in [32, 64], not '48'
// NUMBER: parameter 'rows' is i32 in [32, 64], not 'many'
// FLAG: parameter 'fast' is i1, not '1'
// TYPE: parameter 'input' is type in [bf16, f8E4M3FNUZ], not 'f16'
// EXTRA: the template has no parameter 'more'
// TWICE: parameter 'rows' is given twice
// MISFIT: with its parameters bound: a dimension is a positive integer or a parameter, not bf16
// UNDECLARED: parameter 'columns' is used but not declared

// CHECK-NOT: tile.param
tile.param @rows : i32 in [32, 64] doc "rows"
tile.param @fast : i1 doc "a flag"
tile.param @input : type in [bf16, f8E4M3FNUZ] doc "element"

// In types of arguments, of results, of block arguments, and in attributes.
// CHECK: tile.kernel @k(%{{.*}}: !tile.tensor<[?, ?, 64], bf16>
tile.kernel @k(%t: !tile.tensor<[?, ?, rows], input>, %work: !tile.work) {
  %u = tile.work_unit %work
  // CHECK: tile.load {{.*}} -> <[64, 64], bf16>
  %a = tile.load %t[%u : !tile.unit] : <[?, ?, rows], input> -> <[rows, rows], input>
  // CHECK: tile.if true {
  tile.if fast {
    tile.yield
  }
  // CHECK: step 64 iter(%{{.*}} = %{{.*}}) -> !tile.tile<[64, 64], bf16>
  %r = tile.for_keys %keys of %u step rows iter(%x = %a) -> (!tile.tile<[rows, rows], input>) {
    tile.yield %x : !tile.tile<[rows, rows], input>
  }
  tile.return
}
