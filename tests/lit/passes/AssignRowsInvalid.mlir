// RUN: wavesmith-opt %s --split-input-file -wavesmith-assign-rows --verify-diagnostics

tile.kernel @k(%a: !tile.tensor<[?, 64], f4E2M1FN>, %n: i32) {
  tile.for_rows %row of %n across x {
    // expected-error@+1 {{has elements of less than a byte}}
    %x = tile.load_row %a[%row] : !tile.tensor<[?, 64], f4E2M1FN> -> !tile.tile<[64], f4E2M1FN>
  }
  tile.return
}

// -----

tile.kernel @k(%n: i32) {
  // expected-error@+1 {{loads and stores no row}}
  tile.for_rows %row of %n across x {
  }
  tile.return
}
