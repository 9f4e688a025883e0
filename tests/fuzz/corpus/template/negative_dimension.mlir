tile.param @rows : i32 in [-1] doc "d"
tile.kernel @k(%t: !tile.tile<[rows], f32>) {
  tile.return
}
