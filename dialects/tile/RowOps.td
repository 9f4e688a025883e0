#ifndef WAVESMITH_TILE_ROW_OPS_TD
#define WAVESMITH_TILE_ROW_OPS_TD

// What the kernels around attention are made of: rows of tensors, the same arithmetic for each, and
// what rows have in common. Scalars and control are upstream's (arith, math, scf). Included by
// TileOps.td.

def Tile_RowScalar : AnyTypeOf<[F32, I32]>;

def Tile_GroupOp : Tile_Op<"group", [Pure]> {
  let summary = "The index of this workgroup in a dimension of the grid";
  let arguments = (ins Tile_AxisAttr:$axis);
  let results = (outs I32:$index);
  let assemblyFormat = "$axis attr-dict";
}

def Tile_ForRowsOp : Tile_Op<"for_rows", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Does the same for every row, in parallel";
  let description = [{
    ```mlir
    tile.for_rows %row of %count across x {
      ...
    }
    ```
    The workgroups along a dimension of the grid share the rows 0 to count; the order of rows is not
    defined. In the body, tiles of one dimension and the scalars made from them belong to the row.
    `layout` says how a row lies in lanes; `assign-rows` decides it.
  }];
  let arguments = (ins
    I32:$count,
    Tile_AxisAttr:$axis,
    OptionalAttr<Tile_RowsAttr>:$layout
  );
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_ReadOp : Tile_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads one element, which the workgroup or the row then has";
  let arguments = (ins Tile_TensorType:$tensor, Variadic<I32>:$indices);
  let results = (outs Tile_RowScalar:$value);
  let assemblyFormat = "$tensor `[` $indices `]` attr-dict `:` type($tensor) `->` type($value)";
  let hasVerifier = 1;
}

def Tile_WriteOp : Tile_Op<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes one element, once for the row or for the workgroup";
  let arguments = (ins Tile_RowScalar:$value, Tile_TensorType:$tensor, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $value `to` $tensor `[` $indices `]` attr-dict `:` type($value) `,` type($tensor)
  }];
  let hasVerifier = 1;
}

def Tile_LoadRowOp : Tile_Op<"load_row", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads consecutive elements of the last dimension";
  let description = [{
    `tile.load_row %k[%token, %head] at 128` starts with element 128; without `at`, with element 0.
  }];
  let arguments = (ins
    Tile_TensorType:$tensor,
    Variadic<I32>:$indices,
    OptionalAttr<I32Attr>:$first
  );
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = [{
    $tensor `[` $indices `]` (`at` $first^)? attr-dict `:` type($tensor) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_StoreRowOp : Tile_Op<"store_row", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stores consecutive elements of the last dimension";
  let arguments = (ins
    Tile_TileType:$tile,
    Tile_TensorType:$tensor,
    Variadic<I32>:$indices,
    OptionalAttr<I32Attr>:$first
  );
  let assemblyFormat = [{
    $tile `to` $tensor `[` $indices `]` (`at` $first^)? attr-dict `:` type($tile) `,` type($tensor)
  }];
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A row with one value everywhere";
  let arguments = (ins Tile_RowScalar:$value);
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($tile)";
  let hasVerifier = 1;
}

def Tile_LargestOp : Tile_Op<"largest", [Pure]> {
  let summary = "The largest finite value of an element type, as float32";
  let arguments = (ins AnyAttr:$element);
  let results = (outs F32:$value);
  let assemblyFormat = "custom<ParamOrValue>($element) attr-dict";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, Pure]> {
  let summary = "The same scalar arithmetic for every element";
  let description = [{
    ```mlir
    %y = tile.map(%a = %x, %b = %z) : (!row, !row) -> !row {
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
    The body may use values from outside, but no tiles.
  }];
  let arguments = (ins Variadic<Tile_TileType>:$inputs);
  let results = (outs Tile_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "The elements of a row in another float type";
  let description = [{
    Rounds to nearest even. FP8 saturates: what is beyond its largest value, infinities too, becomes
    that value; NaN becomes the NaN without a sign. f16 saturates what is finite; bf16, whose range is
    float32's, goes to infinity.
  }];
  let arguments = (ins Tile_TileType:$input);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "One value from all elements of a row, always in the same order";
  let arguments = (ins Tile_CombinerAttr:$combiner, Tile_TileType:$input);
  let results = (outs Tile_RowScalar:$result);
  let assemblyFormat = "$combiner $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AccumulateOp : Tile_Op<"accumulate", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds a row's value to an element that all rows share, or raises it to that value";
  let description = [{
    The result does not depend on the order: sums are of integers, maxima of integers or of float32
    that are not negative. The element is the same for all rows of the loop: its indices are made
    outside of it.
  }];
  let arguments = (ins
    Tile_CombinerAttr:$combiner,
    Tile_RowScalar:$value,
    Tile_TensorType:$tensor,
    Variadic<I32>:$indices
  );
  let assemblyFormat = [{
    $combiner $value `into` $tensor `[` $indices `]` attr-dict `:` type($value) `,` type($tensor)
  }];
  let hasVerifier = 1;
}

def Tile_CountOp : Tile_Op<"count", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Counts a row's elements by class";
  let description = [{
    ```mlir
    tile.count %classes into %counts[%head] : !tile.tile<[64], i32>, !tile.tensor<[?, 256], i64>
    ```
    Each element of the row raises by one that element of the last dimension which it names; one that
    names none does not count. The indices of the other dimensions are made outside of the loop.
  }];
  let arguments = (ins
    Tile_TileType:$classes,
    Tile_TensorType:$tensor,
    Variadic<I32>:$indices
  );
  let assemblyFormat = [{
    $classes `into` $tensor `[` $indices `]` attr-dict `:` type($classes) `,` type($tensor)
  }];
  let hasVerifier = 1;
}

def Tile_RotateOp : Tile_Op<"rotate", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "A row times an orthonormal matrix that spreads every element over a block";
  let description = [{
    Signs by seed and column (runtime/spec/Rotation.h), then a Walsh-Hadamard transform of each
    block: result_j = n^-1/2 sum over i of (-1)^popcount(i & j) signed_i. The blocks are the powers
    of two that the size is the sum of, the largest first: 192 = 128 + 64. Float32 sums in the order
    of the index bits, lowest first; one multiplication at the end; zeros are positive. `at` is the
    column of the row's first element.
  }];
  let arguments = (ins
    Tile_TileType:$input,
    OptionalAttr<AnyAttr>:$first,
    AnyAttr:$seed
  );
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $input (`at` custom<ParamOrValue>($first)^)? `seed` custom<ParamOrValue>($seed) attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif
