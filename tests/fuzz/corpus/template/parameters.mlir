tile.param @rows : i32 in [32, 64] doc "rows"
tile.param @fast : i1 doc "a flag"
tile.param @input : type in [bf16, f8E4M3FNUZ] doc "element"

// In types of arguments, of results, of block arguments, and in attributes.
tile.kernel @k(%t: !tile.tensor<[?, ?, rows], input>, %work: !tile.work) {
  %u = tile.work_unit %work
  %a = tile.load %t[%u : !tile.unit] : <[?, ?, rows], input> -> <[rows, rows], input>
  tile.if fast {
    tile.yield
  }
  %r = tile.for_keys %keys of %u step rows iter(%x = %a) -> (!tile.tile<[rows, rows], input>) {
    tile.yield %x : !tile.tile<[rows, rows], input>
  }
  tile.return
}
