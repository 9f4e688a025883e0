tile.param @input : type in [bf16] doc "d"
tile.param @rows : i32 doc "d"
tile.kernel @k(%t: !tile.tile<[input], rows>, %u: !tile.tensor<[?, input], f32>) {
  tile.return
}
