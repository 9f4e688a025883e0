// RUN: wavesmith-opt %s --split-input-file --verify-diagnostics -wavesmith-insert-waits | FileCheck %s

tile.kernel @k(%k: !tile.tensor<[?, ?, 192], bf16>, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  tile.for_keys %keys, %next of %u step 32 attributes {schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 4>} {
    // Three buffers leave one tile of 12 transfers in flight, two leave none; the stores to LDS are
    // older than the 4 fragments read ahead.
    // CHECK: tile.phase{{ +}}vector waits [#tile.waits<group = 0, vmem = 12, lds = -1>, #tile.waits<group = 0, vmem = 0, lds = -1>, #tile.waits<group = 1, vmem = -1, lds = 4>]
    tile.phase vector {
      tile.yield
    }
    tile.phase matrix {
      %a = tile.load %k[%next : !tile.keys] {lds = #tile.lds<rows, offset = 0, bytes = 13056, line = 272, buffers = 3>, staging = #tile.staging<group = 0, ahead = 2>} : <[?, ?, 192], bf16> -> <[32, 192], bf16>
      %b = tile.load %k[%next : !tile.keys] {lds = #tile.lds<rows, offset = 0, bytes = 13056, line = 272, buffers = 2>, staging = #tile.staging<group = 0, ahead = 1>} : <[?, ?, 192], bf16> -> <[32, 192], bf16>
      %c = tile.load %k[%keys : !tile.keys] {lds = #tile.lds<transposed, offset = 0, bytes = 13056, line = 272, buffers = 2>, staging = #tile.staging<group = 1, ahead = 2>} : <[?, ?, 192], bf16> -> <[32, 192], bf16>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @wide(%k: !tile.tensor<[?, ?, 192], bf16>, %v: !tile.tensor<[?, ?, 128], bf16>, %work: !tile.work) attributes {target = "gfx950"} {
  %u = tile.work_unit %work
  tile.for_keys %keys, %next of %u step 64 attributes {schedule = #tile.anti_phase<waves = 8, ring = 7, pre = 3>} {
    // A wave's transfer is 1 KiB here. The step's own tiles are read one phase earlier than those of
    // the next step, so that of four buffers as many tiles are in flight as of three.
    // CHECK: tile.phase{{ +}}vector waits [#tile.waits<group = 1, vmem = 4, lds = -1>, #tile.waits<group = 0, vmem = 6, lds = -1>]
    tile.phase vector {
      tile.yield
    }
    tile.phase matrix {
      %a = tile.load %v[%keys : !tile.keys] {lds = #tile.lds<transpose_reads, offset = 74880, bytes = 17408, line = 1088, buffers = 4>, staging = #tile.staging<group = 1, ahead = 3>} : <[?, ?, 128], bf16> -> <[64, 128], bf16>
      %b = tile.load %k[%next : !tile.keys] {lds = #tile.lds<rows, offset = 0, bytes = 24960, line = 1040, buffers = 3>, staging = #tile.staging<group = 0, ahead = 2>} : <[?, ?, 192], bf16> -> <[64, 192], bf16>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @few(%v: !tile.tensor<[?, ?, 128], bf16>, %work: !tile.work) attributes {target = "gfx950"} {
  %u = tile.work_unit %work
  tile.for_keys %keys, %next of %u step 64 attributes {schedule = #tile.anti_phase<waves = 8, ring = 7, pre = 3>} {
    tile.phase vector {
      tile.yield
    }
    tile.phase matrix {
      // expected-error@+1 {{by DMA needs at least 3 buffers, not 2}}
      %a = tile.load %v[%keys : !tile.keys] {lds = #tile.lds<transpose_reads, offset = 0, bytes = 17408, line = 1088, buffers = 2>, staging = #tile.staging<group = 1, ahead = 1>} : <[?, ?, 128], bf16> -> <[64, 128], bf16>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%k: !tile.tensor<[?, ?, 192], bf16>, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  tile.for_keys %keys, %next of %u step 32 attributes {schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 4>} {
    tile.phase matrix {
      // expected-error@+1 {{is neither placed nor staged}}
      %a = tile.load %k[%keys : !tile.keys] : <[?, ?, 192], bf16> -> <[32, 192], bf16>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  // expected-error@+1 {{has no vector phase}}
  tile.for_keys %keys, %next of %u step 32 attributes {schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 4>} {
    tile.yield
  }
  tile.return
}

// -----

// A third K buffer leaves one tile of 12 dwords a lane in flight, of one byte elements too.
tile.kernel @fp8(%k: !tile.tensor<[?, ?, 192], f8E4M3FNUZ>, %work: !tile.work) attributes {target = "gfx942"} {
  %u = tile.work_unit %work
  tile.for_keys %keys, %next of %u step 64 attributes {schedule = #tile.anti_phase<waves = 8, ring = 5, pre = 3>} {
    // CHECK: tile.phase{{ +}}vector waits [#tile.waits<group = 0, vmem = 12, lds = -1>]
    tile.phase vector {
      tile.yield
    }
    tile.phase matrix {
      %a = tile.load %k[%next : !tile.keys] {lds = #tile.lds<rows, offset = 0, bytes = 13056, line = 272, buffers = 3>, staging = #tile.staging<group = 0, ahead = 2>} : <[?, ?, 192], f8E4M3FNUZ> -> <[64, 192], f8E4M3FNUZ>
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

// expected-error@+1 {{has no target; run wavesmith-select-atoms first}}
tile.kernel @nowhere(%work: !tile.work) {
  %u = tile.work_unit %work
  tile.for_keys %keys, %next of %u step 32 attributes {schedule = #tile.anti_phase<waves = 8, ring = 6, pre = 4>} {
    tile.yield
  }
  tile.return
}
