// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-assign-layouts -wavesmith-place-in-lds="key-buffers=2 value-buffers=3" | FileCheck %s

!keys = !tile.tile<[32, 192], bf16>
!values = !tile.tile<[32, 128], bf16>
!sums = !tile.tile<[256, 128], f32>
!rows = !tile.tile<[256], f32>

// CHECK-LABEL: tile.kernel @attention
tile.kernel @attention(%q: !tile.tile<[256, 192], bf16>, %k: !tile.tensor<[?, ?, 192], bf16>, %v: !tile.tensor<[?, ?, 128], bf16>, %scale: f32, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  %m0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  %r:2 = tile.for_keys %keys of %u step 32 iter(%m = %m0, %o = %o0) -> (!rows, !sums) {
    // Contracted along its rows: lines by DMA. 32 rows of 384 bytes in lines of 256 + 16 bytes.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<rows, offset = 0, bytes = 13056, line = 272, buffers = 2>}
    %kt = tile.load %k[%keys : !tile.keys] : <[?, ?, 192], bf16> -> !keys
    %s = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x8_bf16"} : <[256, 192], bf16>, !keys -> <[256, 32], f32>
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 32], f32>, !rows, !rows, !sums, f32 -> <[256, 32], bf16>, !rows, !rows, !sums
    // Contracted across its rows: transposed on the way in, behind the keys' buffers.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<transposed, offset = 26112, bytes = 8192, line = 1024, buffers = 3>}
    %vt = tile.load %v[%keys : !tile.keys] : <[?, ?, 128], bf16> -> !values
    %o2 = tile.dot %p, %vt into %on {atom = "mfma_f32_32x32x8_bf16"} : <[256, 32], bf16>, !values, !sums -> !sums
    tile.yield %mn, %o2 : !rows, !sums
  }
  tile.return
}

// -----

!keys = !tile.tile<[64, 192], bf16>
!values = !tile.tile<[64, 128], bf16>
!sums = !tile.tile<[256, 128], f32>
!rows = !tile.tile<[256], f32>

// A target whose LDS reads transpose.
// CHECK-LABEL: tile.kernel @reads_transpose
tile.kernel @reads_transpose(%q: !tile.tile<[256, 192], bf16>, %k: !tile.tensor<[?, ?, 192], bf16>, %v: !tile.tensor<[?, ?, 128], bf16>, %scale: f32, %work: !tile.work) attributes {target = "gfx950"} {
  %u = tile.work_unit %work
  %m0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  %r:2 = tile.for_keys %keys of %u step 64 iter(%m = %m0, %o = %o0) -> (!rows, !sums) {
    // 64 rows of 384 bytes in lines of 1024 + 16 bytes: 16 bytes a lane by DMA.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<rows, offset = 0, bytes = 24960, line = 1040, buffers = 2>}
    %kt = tile.load %k[%keys : !tile.keys] : <[?, ?, 192], bf16> -> !keys
    %s = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x16_bf16"} : <[256, 192], bf16>, !keys -> <[256, 64], f32>
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 64], f32>, !rows, !rows, !sums, f32 -> <[256, 64], bf16>, !rows, !rows, !sums
    // Whole rows in lines of 1024 + 64 bytes: the 64 bytes that a transposing read takes of each of four use all banks.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<transpose_reads, offset = 49920, bytes = 17408, line = 1088, buffers = 3>}
    %vt = tile.load %v[%keys : !tile.keys] : <[?, ?, 128], bf16> -> !values
    %o2 = tile.dot %p, %vt into %on {atom = "mfma_f32_32x32x16_bf16"} : <[256, 64], bf16>, !values, !sums -> !sums
    tile.yield %mn, %o2 : !rows, !sums
  }
  tile.return
}

// -----

!keys = !tile.tile<[32, 256], bf16>
!values = !tile.tile<[32, 128], bf16>
!sums = !tile.tile<[256, 128], f32>
!rows = !tile.tile<[256], f32>

// Two such tiles of keys and two of values would fill LDS: no padding.
// CHECK-LABEL: tile.kernel @fills_lds
tile.kernel @fills_lds(%q: !tile.tile<[256, 256], bf16>, %k: !tile.tensor<[?, ?, 256], bf16>, %v: !tile.tensor<[?, ?, 128], bf16>, %scale: f32, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  %m0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  %r:2 = tile.for_keys %keys of %u step 32 iter(%m = %m0, %o = %o0) -> (!rows, !sums) {
    // CHECK: tile.load {{.*}} {lds = #tile.lds<rows, offset = 0, bytes = 16384, line = 256, buffers = 2>}
    %kt = tile.load %k[%keys : !tile.keys] : <[?, ?, 256], bf16> -> !keys
    %s = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x8_bf16"} : <[256, 256], bf16>, !keys -> <[256, 32], f32>
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 32], f32>, !rows, !rows, !sums, f32 -> <[256, 32], bf16>, !rows, !rows, !sums
    // CHECK: tile.load {{.*}} {lds = #tile.lds<transposed, offset = 32768, bytes = 8192, line = 1024, buffers = 3>}
    %vt = tile.load %v[%keys : !tile.keys] : <[?, ?, 128], bf16> -> !values
    %o2 = tile.dot %p, %vt into %on {atom = "mfma_f32_32x32x8_bf16"} : <[256, 32], bf16>, !values, !sums -> !sums
    tile.yield %mn, %o2 : !rows, !sums
  }
  tile.return
}

// -----

!keys = !tile.tile<[64, 64], bf16>

tile.kernel @no_image(%q: !tile.tile<[256, 64], bf16>, %k: !tile.tensor<[?, ?, 64], bf16>, %v: !tile.tensor<[?, ?, 64], bf16>, %p: !tile.tile<[256, 64], bf16>, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  tile.for_keys %keys of %u step 64 {
    // expected-error@+1 {{has no LDS image for}}
    %vt = tile.load %v[%keys : !tile.keys] : <[?, ?, 64], bf16> -> !keys
    %o = tile.dot %p, %vt {atom = "mfma_f32_32x32x8_bf16"} : <[256, 64], bf16>, !keys -> <[256, 64], f32>
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @twice(%q: !tile.tile<[256, 64], bf16>, %k: !tile.tensor<[?, ?, 64], bf16>, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  tile.for_keys %keys of %u step 32 {
    // expected-error@+1 {{inside a loop must be the right operand of one dot}}
    %kt = tile.load %k[%keys : !tile.keys] : <[?, ?, 64], bf16> -> <[32, 64], bf16>
    %s = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x8_bf16"} : <[256, 64], bf16>, <[32, 64], bf16> -> <[256, 32], f32>
    %t = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x8_bf16"} : <[256, 64], bf16>, <[32, 64], bf16> -> <[256, 32], f32>
    tile.yield
  }
  tile.return
}

// -----

!keys = !tile.tile<[64, 192], f8E4M3FNUZ>
!values = !tile.tile<[64, 128], f8E4M3FNUZ>
!sums = !tile.tile<[256, 128], f32>
!rows = !tile.tile<[256], f32>

// CHECK-LABEL: tile.kernel @fp8
tile.kernel @fp8(%q: !tile.tile<[256, 192], f8E4M3FNUZ>, %k: !tile.tensor<[?, ?, 192], f8E4M3FNUZ>, %v: !tile.tensor<[?, ?, 128], f8E4M3FNUZ>, %scale: f32, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  %m0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  %r:2 = tile.for_keys %keys of %u step 64 iter(%m = %m0, %o = %o0) -> (!rows, !sums) {
    // 64 rows of 192 bytes: 32 lines of two rows' first 128 bytes, 16 of four rows' last 64.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<rows, offset = 0, bytes = 13056, line = 272, buffers = 2>}
    %kt = tile.load %k[%keys : !tile.keys] : <[?, ?, 192], f8E4M3FNUZ> -> !keys
    %s = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x16_fp8_fp8"} : <[256, 192], f8E4M3FNUZ>, !keys -> <[256, 64], f32>
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 64], f32>, !rows, !rows, !sums, f32 -> <[256, 64], f8E4M3FNUZ>, !rows, !rows, !sums
    // Four bytes of a dword are four columns: 4 images of 4 groups of 32 columns with 16 keys.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<transposed, offset = 26112, bytes = 8192, line = 512, buffers = 3>}
    %vt = tile.load %v[%keys : !tile.keys] : <[?, ?, 128], f8E4M3FNUZ> -> !values
    %o2 = tile.dot %p, %vt into %on {atom = "mfma_f32_32x32x16_fp8_fp8"} : <[256, 64], f8E4M3FNUZ>, !values, !sums -> !sums
    tile.yield %mn, %o2 : !rows, !sums
  }
  tile.return
}

// -----

!keys = !tile.tile<[128, 192], f8E4M3FN>
!values = !tile.tile<[128, 128], f8E4M3FN>
!sums = !tile.tile<[256, 128], f32>
!rows = !tile.tile<[256], f32>

// CHECK-LABEL: tile.kernel @fp8_reads_transpose
tile.kernel @fp8_reads_transpose(%q: !tile.tile<[256, 192], f8E4M3FN>, %k: !tile.tensor<[?, ?, 192], f8E4M3FN>, %v: !tile.tensor<[?, ?, 128], f8E4M3FN>, %scale: f32, %work: !tile.work) attributes {target = "gfx950"} {
  %u = tile.work_unit %work
  %m0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  %r:2 = tile.for_keys %keys of %u step 128 iter(%m = %m0, %o = %o0) -> (!rows, !sums) {
    // Three pieces of 64 bytes of 128 rows, 16 rows in a line.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<rows, offset = 0, bytes = 24960, line = 1040, buffers = 2>}
    %kt = tile.load %k[%keys : !tile.keys] : <[?, ?, 192], f8E4M3FN> -> !keys
    %s = tile.dot %q, %kt transposed {atom = "mfma_f32_32x32x64_f8f6f4"} : <[256, 192], f8E4M3FN>, !keys -> <[256, 128], f32>
    %p, %mn, %ln, %on = tile.online_softmax %s, %m, %m, %o scale %scale : <[256, 128], f32>, !rows, !rows, !sums, f32 -> <[256, 128], f8E4M3FN>, !rows, !rows, !sums
    // Transposing reads of bytes take 32 bytes of each of eight lines.
    // CHECK: tile.load {{.*}} {lds = #tile.lds<transpose_reads, offset = 49920, bytes = 16896, line = 1056, buffers = 3>}
    %vt = tile.load %v[%keys : !tile.keys] : <[?, ?, 128], f8E4M3FN> -> !values
    %o2 = tile.dot %p, %vt into %on {atom = "mfma_f32_32x32x64_f8f6f4"} : <[256, 128], f8E4M3FN>, !values, !sums -> !sums
    tile.yield %mn, %o2 : !rows, !sums
  }
  tile.return
}
