// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-assign-layouts | FileCheck %s

// Two products in a row: both transposed, so that the scores' accumulators are the weights' operand.
// CHECK-LABEL: tile.kernel @attention
// CHECK-SAME: !tile.tile<[256, 64], bf16, #tile.mma<"mfma_f32_32x32x8_bf16", rhs, transposed = true>>
tile.kernel @attention(%q: !tile.tile<[256, 64], bf16>, %k: !tile.tile<[32, 64], bf16>, %v: !tile.tile<[32, 64], bf16>, %scale: f32, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  // CHECK: %[[M:.*]] = tile.fill 0.000000e+00 : <[256], f32, #tile.mma<"mfma_f32_32x32x8_bf16", stats, transposed = true>>
  %m0 = tile.fill 0.0 : <[256], f32>
  // CHECK: tile.fill 0.000000e+00 : <[256, 64], f32, #tile.mma<"mfma_f32_32x32x8_bf16", acc, transposed = true>>
  %o0 = tile.fill 0.0 : <[256, 64], f32>
  // CHECK: tile.for_keys
  %r:2 = tile.for_keys %keys of %u step 32 iter(%m = %m0, %o = %o0) -> (!tile.tile<[256], f32>, !tile.tile<[256, 64], f32>) {
    // CHECK: tile.dot {{.*}} -> <[256, 32], f32, #tile.mma<"mfma_f32_32x32x8_bf16", acc, transposed = true>>
    %s = tile.dot %q, %k transposed {atom = "mfma_f32_32x32x8_bf16"} : <[256, 64], bf16>, <[32, 64], bf16> -> <[256, 32], f32>
    // CHECK: tile.online_softmax {{.*}} -> <[256, 32], bf16, #tile.mma<"mfma_f32_32x32x8_bf16", rhs, transposed = true>>
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 32], f32>, <[256], f32>, <[256], f32>, <[256, 64], f32>, f32 -> <[256, 32], bf16>, <[256], f32>, <[256], f32>, <[256, 64], f32>
    // CHECK: tile.dot {{.*}}, <[32, 64], bf16, #tile.mma<"mfma_f32_32x32x8_bf16", lhs, transposed = true>>
    %o2 = tile.dot %p, %v into %on {atom = "mfma_f32_32x32x8_bf16"} : <[256, 32], bf16>, <[32, 64], bf16>, !tile.tile<[256, 64], f32> -> <[256, 64], f32>
    tile.yield %mn, %o2 : !tile.tile<[256], f32>, !tile.tile<[256, 64], f32>
  }
  tile.return
}

// -----

// The same with twice the contraction in an instruction: eight accumulators make an operand, and
// they are 16 whole keys in an order of their own.
// CHECK-LABEL: tile.kernel @wide
tile.kernel @wide(%q: !tile.tile<[256, 64], bf16>, %k: !tile.tile<[64, 64], bf16>, %v: !tile.tile<[64, 64], bf16>, %scale: f32, %m: !tile.tile<[256], f32>, %o: !tile.tile<[256, 64], f32>) attributes {target = "gfx950"} {
  // CHECK: tile.dot {{.*}} -> <[256, 64], f32, #tile.mma<"mfma_f32_32x32x16_bf16", acc, transposed = true>>
  %s = tile.dot %q, %k transposed {atom = "mfma_f32_32x32x16_bf16"} : <[256, 64], bf16>, <[64, 64], bf16> -> <[256, 64], f32>
  // CHECK: tile.online_softmax {{.*}} -> <[256, 64], bf16, #tile.mma<"mfma_f32_32x32x16_bf16", rhs, transposed = true>>
  %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 64], f32>, <[256], f32>, <[256], f32>, <[256, 64], f32>, f32 -> <[256, 64], bf16>, <[256], f32>, <[256], f32>, <[256, 64], f32>
  // CHECK: tile.dot {{.*}}, <[64, 64], bf16, #tile.mma<"mfma_f32_32x32x16_bf16", lhs, transposed = true>>
  %o2 = tile.dot %p, %v into %on {atom = "mfma_f32_32x32x16_bf16"} : <[256, 64], bf16>, <[64, 64], bf16>, !tile.tile<[256, 64], f32> -> <[256, 64], f32>
  tile.return
}

// -----

// A product that feeds no other stays as it is written.
// CHECK-LABEL: tile.kernel @product
tile.kernel @product(%a: !tile.tile<[32, 64], bf16>, %b: !tile.tile<[32, 64], bf16>) attributes {target = "gfx942"} {
  // CHECK: tile.dot {{.*}} : <[32, 64], bf16, #tile.mma<"mfma_f32_32x32x8_bf16", lhs, transposed = false>>
  %s = tile.dot %a, %b transposed {atom = "mfma_f32_32x32x8_bf16"} : <[32, 64], bf16>, <[32, 64], bf16> -> <[32, 32], f32>
  tile.return
}

// -----

tile.kernel @early(%a: !tile.tile<[32, 64], bf16>, %b: !tile.tile<[32, 64], bf16>) attributes {target = "gfx942"} {
  // expected-error@+1 {{has no atom; run wavesmith-select-atoms first}}
  %s = tile.dot %a, %b transposed : <[32, 64], bf16>, <[32, 64], bf16> -> <[32, 32], f32>
  tile.return
}

// -----

// expected-error@+1 {{a tile is needed as}}
tile.kernel @both(%a: !tile.tile<[32, 32], bf16>) attributes {target = "gfx942"} {
  %s = tile.dot %a, %a transposed {atom = "mfma_f32_32x32x8_bf16"} : <[32, 32], bf16>, <[32, 32], bf16> -> <[32, 32], f32>
  tile.return
}

// -----

// The order of a lane's 8 weights is not that of 8 consecutive keys, but their 16 rows are whole.
// CHECK-LABEL: tile.kernel @fp8
tile.kernel @fp8(%q: !tile.tile<[256, 64], f8E4M3FNUZ>, %k: !tile.tile<[64, 64], f8E4M3FNUZ>, %v: !tile.tile<[64, 64], f8E4M3FNUZ>, %m: !tile.tile<[256], f32>, %o: !tile.tile<[256, 64], f32>, %scale: f32) attributes {target = "gfx942"} {
  // CHECK: tile.dot {{.*}} -> <[256, 64], f32, #tile.mma<"mfma_f32_32x32x16_fp8_fp8", acc, transposed = true>>
  %s = tile.dot %q, %k transposed {atom = "mfma_f32_32x32x16_fp8_fp8"} : <[256, 64], f8E4M3FNUZ>, <[64, 64], f8E4M3FNUZ> -> <[256, 64], f32>
  // CHECK: tile.online_softmax {{.*}} -> <[256, 64], f8E4M3FNUZ, #tile.mma<"mfma_f32_32x32x16_fp8_fp8", rhs, transposed = true>>
  %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 64], f32>, <[256], f32>, <[256], f32>, <[256, 64], f32>, f32 -> <[256, 64], f8E4M3FNUZ>, <[256], f32>, <[256], f32>, <[256, 64], f32>
  %o2 = tile.dot %p, %v into %on {atom = "mfma_f32_32x32x16_fp8_fp8"} : <[256, 64], f8E4M3FNUZ>, <[64, 64], f8E4M3FNUZ>, !tile.tile<[256, 64], f32> -> <[256, 64], f32>
  tile.return
}

// -----

// An operand of 64 keys takes the accumulators of two products.
// CHECK-LABEL: tile.kernel @fp8_wide
tile.kernel @fp8_wide(%q: !tile.tile<[256, 64], f8E4M3FN>, %k: !tile.tile<[128, 64], f8E4M3FN>, %v: !tile.tile<[128, 64], f8E4M3FN>, %m: !tile.tile<[256], f32>, %o: !tile.tile<[256, 64], f32>, %scale: f32) attributes {target = "gfx950"} {
  %s = tile.dot %q, %k transposed {atom = "mfma_f32_32x32x64_f8f6f4"} : <[256, 64], f8E4M3FN>, <[128, 64], f8E4M3FN> -> <[256, 128], f32>
  // CHECK: tile.online_softmax {{.*}} -> <[256, 128], f8E4M3FN, #tile.mma<"mfma_f32_32x32x64_f8f6f4", rhs, transposed = true>>
  %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 128], f32>, <[256], f32>, <[256], f32>, <[256, 64], f32>, f32 -> <[256, 128], f8E4M3FN>, <[256], f32>, <[256], f32>, <[256, 64], f32>
  %o2 = tile.dot %p, %v into %on {atom = "mfma_f32_32x32x64_f8f6f4"} : <[256, 128], f8E4M3FN>, <[128, 64], f8E4M3FN>, !tile.tile<[256, 64], f32> -> <[256, 64], f32>
  tile.return
}
