#ifndef WAVESMITH_TILE_ATTRS_TD
#define WAVESMITH_TILE_ATTRS_TD

include "dialects/tile/TileDialect.td"

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_ParamAttr : Tile_Attr<"Param", "param"> {
  let summary = "The value of a parameter, by name";
  let description = "In tile types and after keywords it is printed as the bare name.";
  let parameters = (ins StringRefParameter<>:$name);
  let assemblyFormat = "`<` $name `>`";
}

def Tile_Role : I32EnumAttr<"Role", "what a register tile is to its matrix instruction", [
  I32EnumAttrCase<"Lhs", 0, "lhs">,
  I32EnumAttrCase<"Rhs", 1, "rhs">,
  I32EnumAttrCase<"Accumulator", 2, "acc">,
  I32EnumAttrCase<"Statistics", 3, "stats">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}

def Tile_MmaAttr : Tile_Attr<"Mma", "mma"> {
  let summary = "A register layout: the lane map of one side of a matrix instruction";
  let description = [{
    `transposed` says that the instruction computes the transpose of what the template says
    (D^T = B^T A^T), so the tile's rows run along the instruction's columns. `stats` is one value
    for each row, held in the lane that holds the row's accumulators.
  }];
  let parameters = (ins
    StringRefParameter<>:$atom,
    EnumParameter<Tile_Role>:$role,
    "bool":$transposed
  );
  let assemblyFormat = "`<` $atom `,` $role `,` `transposed` `=` $transposed `>`";
}

def Tile_LdsKind : I32EnumAttr<"LdsKind", "how a tile reaches LDS", [
  I32EnumAttrCase<"Rows", 0, "rows">,
  I32EnumAttrCase<"Transposed", 1, "transposed">,
  I32EnumAttrCase<"TransposeReads", 2, "transpose_reads">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}

def Tile_LdsAttr : Tile_Attr<"Lds", "lds"> {
  let summary = "An LDS image: where and how a loaded tile lies in LDS";
  let description = [{
    `rows`: copied by LDS DMA as lines of consecutive row pieces. `transposed`: loaded to registers,
    neighbouring rows interleaved, written so that a fragment of the transpose is one 16-byte read.
    `transpose_reads`: copied by LDS DMA as lines of whole rows, transposed by the instruction that
    reads them. Sizes are in bytes; `buffers` images lie one behind the other from `offset`.
  }];
  let parameters = (ins
    EnumParameter<Tile_LdsKind>:$kind,
    "int64_t":$offset,
    "int64_t":$bytes,
    "int64_t":$line,
    "int64_t":$buffers
  );
  let assemblyFormat = "`<` $kind `,` struct($offset, $bytes, $line, $buffers) `>`";
}

def Tile_StagingAttr : Tile_Attr<"Staging", "staging"> {
  let summary = "Which wave group brings a tile to LDS, and how many steps ahead of the one it reads";
  let parameters = (ins "int64_t":$group, "int64_t":$ahead);
  let assemblyFormat = "`<` struct($group, $ahead) `>`";
}

def Tile_AntiPhaseAttr : Tile_Attr<"AntiPhase", "anti_phase"> {
  let summary = "The schedule of a loop whose two wave groups alternate vector and matrix phases";
  let description = [{
    `ring` operand fragments are in flight during a matrix phase, `pre` of them are read before the
    barrier that opens it.
  }];
  let parameters = (ins "int64_t":$waves, "int64_t":$ring, "int64_t":$pre);
  let assemblyFormat = "`<` struct($waves, $ring, $pre) `>`";
}

def Tile_RowSum : I32EnumAttr<"RowSum", "what adds up the weights of a row", [
  I32EnumAttrCase<"Vector", 0, "vector">,
  I32EnumAttrCase<"Matrix", 1, "matrix">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}

def Tile_SoftmaxOrder : I32EnumAttr<"SoftmaxOrder", "in which order the elements' steps stand", [
  I32EnumAttrCase<"Pipelined", 0, "pipelined">,
  I32EnumAttrCase<"Windowed", 1, "windowed">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}

def Tile_WeightRounding : I32EnumAttr<"WeightRounding", "how weights become elements of products", [
  I32EnumAttrCase<"Nearest", 0, "nearest">,
  I32EnumAttrCase<"Truncated", 1, "truncated">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}
def Tile_SoftmaxAttr : Tile_Attr<"Softmax", "softmax"> {
  let summary = "How an online softmax keeps its weights in range, adds them up and is ordered";
  let description = [{
    `vector` adds float32 weights, `matrix` those that were rounded to the products' input type.
    Weights are multiplied by 2^`exponent`, which the sums cancel; a row maximum may exceed its
    reference by `threshold` (log2) before the row is rescaled. `pipelined` lets each step of an
    element follow a few elements later, `windowed` makes groups that fit between two matrix
    instructions of the other wave. `truncated` weights lose the bits that the products' input type
    has no room for; what that takes on average is put back.
  }];
  let parameters = (ins
    EnumParameter<Tile_RowSum>:$sum,
    EnumParameter<Tile_SoftmaxOrder>:$order,
    EnumParameter<Tile_WeightRounding>:$rounding,
    "::mlir::FloatAttr":$exponent,
    "::mlir::FloatAttr":$threshold
  );
  let assemblyFormat = "`<` $sum `,` $order `,` $rounding `,` struct($exponent, $threshold) `>`";
}

def Tile_WaitsAttr : Tile_Attr<"Waits", "waits"> {
  let summary = "What one wave group waits for before the barrier that ends a phase";
  let description = [{
    Counts of vector-memory (`vmem`) and LDS (`lds`) operations of the group that may still be in
    flight; -1 means no wait. Everything older has landed and may be read by the other group after
    the barrier.
  }];
  let parameters = (ins "int64_t":$group, "int64_t":$vmem, "int64_t":$lds);
  let assemblyFormat = "`<` struct($group, $vmem, $lds) `>`";
}

def Tile_PhaseKind : I32EnumAttr<"PhaseKind", "what a phase keeps busy", [
  I32EnumAttrCase<"Vector", 0, "vector">,
  I32EnumAttrCase<"Matrix", 1, "matrix">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}
def Tile_PhaseKindAttr : EnumAttr<Tile_Dialect, Tile_PhaseKind, "phase_kind">;

def Tile_Axis : I32EnumAttr<"Axis", "a dimension of the grid of workgroups", [
  I32EnumAttrCase<"X", 0, "x">,
  I32EnumAttrCase<"Y", 1, "y">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}
def Tile_AxisAttr : EnumAttr<Tile_Dialect, Tile_Axis, "axis">;

def Tile_Combiner : I32EnumAttr<"Combiner", "how values become one, in any order", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Max", 1, "max">
]> {
  let cppNamespace = "::wavesmith::tile";
  let genSpecializedAttr = 0;
}
def Tile_CombinerAttr : EnumAttr<Tile_Dialect, Tile_Combiner, "combiner">;

def Tile_RowsAttr : Tile_Attr<"Rows", "rows"> {
  let summary = "How the rows of a loop lie in lanes";
  let description = [{
    `lanes` neighbouring lanes hold a row; each holds runs of `chunk` elements, and the runs of all
    lanes lie side by side. A workgroup does `rows` rows.
  }];
  let parameters = (ins "int64_t":$lanes, "int64_t":$chunk, "int64_t":$rows);
  let assemblyFormat = "`<` struct($lanes, $chunk, $rows) `>`";
}

#endif
