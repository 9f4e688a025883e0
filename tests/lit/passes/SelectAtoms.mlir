// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-select-atoms=target=gfx942 | FileCheck %s
// RUN: not wavesmith-opt %s --split-input-file -wavesmith-select-atoms=target=gfx950 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not wavesmith-opt %s -wavesmith-select-atoms=target=gfx90a 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: unknown target 'gfx90a'; known: gfx942 gfx950

// CHECK: tile.kernel @k({{.*}}) attributes {target = "gfx942"}
tile.kernel @k(%a: !tile.tile<[256, 64], bf16>, %b: !tile.tile<[32, 64], bf16>) {
  // CHECK: tile.dot {{.*}} {atom = "mfma_f32_32x32x8_bf16"}
  // WIDE: tile.dot {{.*}} {atom = "mfma_f32_32x32x16_bf16"}
  %s = tile.dot %a, %b transposed : <[256, 64], bf16>, <[32, 64], bf16> -> <[256, 32], f32>
  tile.return
}

// -----

// CHECK: tile.kernel @half
tile.kernel @half(%a: !tile.tile<[256, 64], f16>, %b: !tile.tile<[32, 64], f16>) {
  // CHECK: tile.dot {{.*}} {atom = "mfma_f32_32x32x8_f16"}
  // WIDE: tile.dot {{.*}} {atom = "mfma_f32_32x32x16_f16"}
  %s = tile.dot %a, %b transposed : <[256, 64], f16>, <[32, 64], f16> -> <[256, 32], f32>
  tile.return
}

// -----

tile.kernel @odd(%a: !tile.tile<[256, 60], bf16>, %b: !tile.tile<[32, 60], bf16>) {
  // expected-error@+1 {{of 'bf16' 256x32x60 fits no matrix instruction of gfx942}}
  %s = tile.dot %a, %b transposed : <[256, 60], bf16>, <[32, 60], bf16> -> <[256, 32], f32>
  tile.return
}

// -----

tile.kernel @unbound(%a: !tile.tile<[rows, 64], bf16>, %b: !tile.tile<[32, 64], bf16>) {
  // expected-error@+1 {{has unbound operands; run wavesmith-bind-parameters first}}
  %s = tile.dot %a, %b transposed : <[rows, 64], bf16>, <[32, 64], bf16> -> <[rows, 32], f32>
  tile.return
}

// -----

// CHECK: tile.kernel @fnuz
tile.kernel @fnuz(%a: !tile.tile<[256, 64], f8E4M3FNUZ>, %b: !tile.tile<[64, 64], f8E4M3FNUZ>) {
  // CHECK: tile.dot {{.*}} {atom = "mfma_f32_32x32x16_fp8_fp8"}
  %s = tile.dot %a, %b transposed : <[256, 64], f8E4M3FNUZ>, <[64, 64], f8E4M3FNUZ> -> <[256, 64], f32>
  tile.return
}

// -----

// The same bits mean other values on each target.
// WIDE: tile.kernel @ocp
// WIDE: tile.dot {{.*}} {atom = "mfma_f32_32x32x64_f8f6f4"}
tile.kernel @ocp(%a: !tile.tile<[256, 64], f8E4M3FN>, %b: !tile.tile<[64, 64], f8E4M3FN>) {
  // expected-error@+1 {{of 'f8E4M3FN' 256x64x64 fits no matrix instruction of gfx942}}
  %s = tile.dot %a, %b transposed : <[256, 64], f8E4M3FN>, <[64, 64], f8E4M3FN> -> <[256, 64], f32>
  tile.return
}
