#ifndef WAVESMITH_TILE_DIALECT_TD
#define WAVESMITH_TILE_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::wavesmith::tile";
  let summary = "Tiles of tensors and what an attention kernel does with them";
  let description = [{
    A kernel in this dialect says what is computed: load, dot, mask, online softmax, store. It names
    no lane, no register, no LDS address and no wait. Passes decide those, and write their
    decisions as attributes on the ops and as layouts in the types; `lower-tile` carries them out.

    Sizes and element types may be parameters: a bare identifier in a tile type or after a keyword
    is a `#tile.param`, declared by a `tile.param` op and replaced by `bind-parameters`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

#endif
