#ifndef WAVESMITH_TILE_TYPES_TD
#define WAVESMITH_TILE_TYPES_TD

include "dialects/tile/TileDialect.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_TileType : Tile_Type<"Tile", "tile"> {
  let summary = "A tile: a value of fixed shape, held by a workgroup";
  let description = [{
    `!tile.tile<[block_m, 192], input>`: dimensions are positive integers or parameters, the
    element is a builtin type or a parameter. A third parameter is the layout that a pass assigned.
    A tile of one dimension in a loop over rows is one row.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Attribute">:$shape,
    "::mlir::Attribute":$element,
    "::mlir::Attribute":$layout
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether no dimension and no element is a parameter any more.
    bool isBound() const;
    /// Size of a dimension of a bound tile.
    int64_t getDim(unsigned index) const;
    /// Element type of a bound tile.
    ::mlir::Type getElementType() const;
    TileType withLayout(::mlir::Attribute layout) const;
  }];
}

def Tile_TensorType : Tile_Type<"Tensor", "tensor"> {
  let summary = "A tensor in device memory; `?` is a size known at launch";
  let description = [{
    In a kernel's arguments it is an address; in a row kernel a stride in bytes for each `?` follows
    it. What stands behind the last `?` is packed.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::Attribute">:$shape,
    "::mlir::Attribute":$element
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether no dimension and no element is a parameter any more.
    bool isBound() const;
    bool isDynamicDim(unsigned index) const;
    /// Size of a fixed dimension of a bound tensor.
    int64_t getDim(unsigned index) const;
    /// Element type of a bound tensor.
    ::mlir::Type getElementType() const;
  }];
}

def Tile_WorkType : Tile_Type<"Work", "work"> {
  let summary = "The work list: one unit for each workgroup";
}

def Tile_UnitType : Tile_Type<"Unit", "unit"> {
  let summary = "A work unit: query rows of one sequence and head, and a range of its keys";
}

def Tile_KeysType : Tile_Type<"Keys", "keys"> {
  let summary = "The keys of one step of a loop over a unit's keys";
}

#endif
