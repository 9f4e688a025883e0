tile.param @rows : i32 in [4294967328] doc "d"
tile.kernel @k(%t: !tile.tile<[4294967328], f32>) {
  tile.return
}
