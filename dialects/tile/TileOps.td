#ifndef WAVESMITH_TILE_OPS_TD
#define WAVESMITH_TILE_OPS_TD

include "dialects/tile/TileAttrs.td"
include "dialects/tile/TileTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, opMnemonic, traits>;

//===-- Declarations ------------------------------------------------------------------------===//

def Tile_ParamOp : Tile_Op<"param", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Declares a parameter of the template";
  let description = [{
    ```mlir
    tile.param @block_n : i32 in [32, 64, 128] doc "keys of one step"
    tile.param @causal : i1 doc "query i sees keys j <= i + len_kv - len_q"
    tile.param @input : type in [bf16, f8E4M3FNUZ] doc "element of q, k and v"
    ```
    `in` lists the admitted values; without it any value of the type is.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$kind,
    OptionalAttr<ArrayAttr>:$allowed,
    StrAttr:$doc
  );
  let assemblyFormat = [{
    $sym_name `:` custom<ParamKind>($kind) (`in` $allowed^)? `doc` $doc attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_ScoreOp : Tile_Op<"score", [Symbol, HasParent<"::mlir::ModuleOp">, IsolatedFromAbove]> {
  let summary = "A score function: what happens to one attention score before the softmax";
  let description = [{
    Arguments: the score (f32), the query's and the key's index in their sequence, and the lengths
    of both (i32), then any number of i32 or f32 that tile.apply gives it. Returns the score. A
    variant of attention is such a function, not a template.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_KernelOp : Tile_Op<"kernel", [Symbol, HasParent<"::mlir::ModuleOp">, IsolatedFromAbove]> {
  let summary = "A kernel: its body is what one workgroup does";
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    OptionalAttr<StrAttr>:$target
  );
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Terminator, Pure]> {
  let summary = "Ends a kernel or a score function";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

//===-- Control -----------------------------------------------------------------------------===//

def Tile_IfOp : Tile_Op<"if", [NoRegionArguments, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Keeps one of two regions, by a parameter; folded once the parameter is bound";
  let description = "A number is true unless it is 0.";
  let arguments = (ins AnyAttr:$condition);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, AnyRegion:$elseRegion);
  let assemblyFormat = [{
    custom<ParamOrValue>($condition) (`->` `(` type($results)^ `)`)? $thenRegion
    (`else` $elseRegion^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Terminator, Pure, ReturnLike]> {
  let summary = "Passes values out of a region";
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Tile_ForKeysOp : Tile_Op<"for_keys", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Walks the keys of a unit in steps";
  let description = [{
    ```mlir
    %r = tile.for_keys %keys of %unit step block_n iter(%x = %x0) -> (!tile.tile<[block_m], f32>) {
      ...
      tile.yield %y : !tile.tile<[block_m], f32>
    }
    ```
    The body sees the keys of its step and the carried values. In a pipelined loop the body has two
    key arguments, `%keys, %next`: its matrix phase already works on the next step, whose keys read
    as zero past the range. `peeled` says that steps in which every score is visible run in a loop
    of their own, without the score functions that are masks.
  }];
  let arguments = (ins
    Tile_UnitType:$unit,
    Variadic<AnyType>:$inits,
    AnyAttr:$step,
    OptionalAttr<Tile_AntiPhaseAttr>:$schedule,
    UnitAttr:$peeled
  );
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_PhaseOp : Tile_Op<"phase", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Part of a pipelined loop's body that keeps one unit of the chip busy";
  let description = [{
    The two wave groups of a workgroup are always in different phases; a barrier ends each. `waits`
    says what each group waits for before that barrier.
  }];
  let arguments = (ins
    Tile_PhaseKindAttr:$kind,
    DefaultValuedAttr<ArrayAttr, "{}">:$waits
  );
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind (`waits` $waits^)? (`->` `(` type($results)^ `)`)? $body attr-dict";
  let hasVerifier = 1;
}

//===-- Work and memory ---------------------------------------------------------------------===//

def Tile_WorkUnitOp : Tile_Op<"work_unit", [Pure]> {
  let summary = "The unit of this workgroup";
  let arguments = (ins Tile_WorkType:$work);
  let results = (outs Tile_UnitType:$unit);
  let assemblyFormat = "$work attr-dict";
}

def Tile_FirstKeysOp : Tile_Op<"first_keys", [Pure]> {
  let summary = "The keys of the first step of a unit's loop";
  let arguments = (ins Tile_UnitType:$unit);
  let results = (outs Tile_KeysType:$keys);
  let assemblyFormat = "$unit attr-dict";
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads the rows of a unit's queries, or of a step's keys";
  let description = [{
    Rows past the end of the sequence or of the unit's range read as zero. The head (of the
    queries, or of the keys by the head ratio) comes from the unit.
  }];
  let arguments = (ins
    Tile_TensorType:$tensor,
    AnyTypeOf<[Tile_UnitType, Tile_KeysType]>:$rows,
    OptionalAttr<Tile_LdsAttr>:$lds,
    OptionalAttr<Tile_StagingAttr>:$staging
  );
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = [{
    $tensor `[` $rows `:` type($rows) `]` attr-dict `:` type($tensor) `->` type($tile)
  }];
  let hasVerifier = 1;
}

def Tile_DescaleOp : Tile_Op<"descale", [MemoryEffects<[MemRead]>]> {
  let summary = "The FP8 descale of the unit's head";
  let arguments = (ins Tile_TensorType:$tensor, Tile_UnitType:$unit);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$tensor `[` $unit `]` attr-dict `:` type($tensor) `->` type($value)";
}

def Tile_SinkOp : Tile_Op<"sink", [MemoryEffects<[MemRead]>]> {
  let summary = "The attention sink of the unit's head; minus infinity in units that must not count it";
  let description = [{
    A logit without a value, one for each query head. Of the pieces of a row's keys exactly one counts
    it: the work unit says which.
  }];
  let arguments = (ins Tile_TensorType:$tensor, Tile_UnitType:$unit);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$tensor `[` $unit `]` attr-dict `:` type($tensor) `->` type($value)";
}

def Tile_ScaleOp : Tile_Op<"scale", [Pure]> {
  let summary = "The product of two scalars, or of a tile and a scalar";
  let arguments = (ins AnyType:$value, AnyType:$factor);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value `,` $factor attr-dict `:` type($value) `,` type($factor) `->` type($result)";
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stores the valid rows of a unit";
  let description = [{
    With `rows` the tile goes to the unit's query rows, if the unit is final; with `slot` it goes to
    the unit's partial slot, if it has one.
  }];
  let arguments = (ins
    Tile_TileType:$tile,
    Tile_TensorType:$tensor,
    Tile_UnitType:$unit,
    UnitAttr:$slot
  );
  let assemblyFormat = [{
    $tile `to` $tensor `[` $unit (`slot` $slot^)? `]` attr-dict `:` type($tile) `,` type($tensor)
  }];
}

//===-- Arithmetic --------------------------------------------------------------------------===//

def Tile_FillOp : Tile_Op<"fill", [Pure]> {
  let summary = "A tile with one value everywhere";
  let arguments = (ins F32Attr:$value);
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = "$value attr-dict `:` type($tile)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "Matrix product, optionally added to an accumulator";
  let description = [{
    `tile.dot %a, %b` is A x B; `tile.dot %a, %b transposed` is A x B^T. Accumulates in f32.
    `atom` is the matrix instruction that `select-atoms` chose.
  }];
  let arguments = (ins
    Tile_TileType:$lhs,
    Tile_TileType:$rhs,
    Optional<Tile_TileType>:$acc,
    UnitAttr:$transposed,
    OptionalAttr<StrAttr>:$atom
  );
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transposed` $transposed^)? (`into` $acc^)? attr-dict
    `:` type($lhs) `,` type($rhs) (`,` type($acc)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ApplyOp : Tile_Op<"apply", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Applies a score function to every score of a tile";
  let description = "What stands behind `with` are the function's arguments from the sixth on.";
  let arguments = (ins
    FlatSymbolRefAttr:$function,
    Tile_TileType:$scores,
    Tile_UnitType:$unit,
    Tile_KeysType:$keys,
    Variadic<AnyType>:$values
  );
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $function `(` $scores `)` `at` `(` $unit `,` $keys `)` (`with` `(` $values^ `:` type($values) `)`)?
    attr-dict `:` type($scores) `->` type($result)
  }];
}

def Tile_OnlineSoftmaxOp : Tile_Op<"online_softmax", [Pure]> {
  let summary = "One step of the online softmax";
  let description = [{
    With c = scale * log2(e): m' = max(m, rowmax(s)), a = 2^((m - m') c), p = 2^((s - m') c),
    l' = a l + rowsum(p), o' = a o. The reference m' may lag behind the maximum by a bounded amount
    (the factors cancel in o / l), so that most steps leave l and o alone; `form` says by how much.
    A row without any finite score keeps l = 0.
    Source: Milakov and Gimelshein, arXiv:1805.02867.
  }];
  let arguments = (ins
    Tile_TileType:$scores,
    Tile_TileType:$max,
    Tile_TileType:$sum,
    Tile_TileType:$out,
    AnyType:$scale,
    OptionalAttr<Tile_SoftmaxAttr>:$form
  );
  let results = (outs
    Tile_TileType:$weights,
    Tile_TileType:$newMax,
    Tile_TileType:$newSum,
    Tile_TileType:$newOut
  );
  let assemblyFormat = [{
    $scores `,` $max `,` $sum `,` $out `scale` $scale attr-dict
    `:` type($scores) `,` type($max) `,` type($sum) `,` type($out) `,` type($scale)
    `->` type($weights) `,` type($newMax) `,` type($newSum) `,` type($newOut)
  }];
}

def Tile_NormalizeOp : Tile_Op<"normalize", [Pure]> {
  let summary = "Ends an online softmax: out = o / l, lse = scale m + ln l";
  let description = [{
    A row with l = 0 gives out = 0 and lse = -inf, exactly. With a sink, l + exp(sink - scale m) takes
    the place of l; then a row with l = 0 gives out = 0, exactly, and lse = sink.
  }];
  let arguments = (ins
    Tile_TileType:$out,
    Tile_TileType:$max,
    Tile_TileType:$sum,
    AnyType:$scale,
    Optional<AnyType>:$sink
  );
  let results = (outs Tile_TileType:$result, Tile_TileType:$lse);
  let assemblyFormat = [{
    $out `,` $max `,` $sum `scale` $scale (`sink` $sink^)? attr-dict
    `:` type($out) `,` type($max) `,` type($sum) `,` type($scale) (`,` type($sink)^)?
    `->` type($result) `,` type($lse)
  }];
}

def Tile_MaskOp : Tile_Op<"mask", [Pure, AllTypesMatch<["score", "result"]>]> {
  let summary = "The score where it is visible, minus infinity elsewhere";
  let arguments = (ins AnyType:$score, I1:$visible);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$score `,` $visible attr-dict `:` type($score)";
}

include "dialects/tile/RowOps.td"

#endif
