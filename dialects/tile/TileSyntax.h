#pragma once
// Syntax that ODS cannot express: parameters as bare identifiers, shapes that mix numbers and
// parameters, ops whose region arguments are written with types.

#include "dialects/tile/Tile.h"

namespace wavesmith::tile {

/// One dimension or value: an integer, `true`/`false`, a type, or a parameter's bare name.
mlir::ParseResult parseParamOrValue(mlir::AsmParser &parser, mlir::Attribute &value);
void printParamOrValue(mlir::AsmPrinter &printer, mlir::Attribute value);
inline void printParamOrValue(mlir::OpAsmPrinter &printer, mlir::Operation *,
                              mlir::Attribute value) {
  printParamOrValue(printer, value);
}

/// `[a, b, ...]`; with `dynamic`, `?` is a dimension too (a unit attribute).
mlir::ParseResult parseShape(mlir::AsmParser &parser, llvm::SmallVectorImpl<mlir::Attribute> &shape,
                             bool dynamic);
void printShape(mlir::AsmPrinter &printer, llvm::ArrayRef<mlir::Attribute> shape);

/// A keyword of: i1, i32, type.
mlir::ParseResult parseParamKind(mlir::OpAsmParser &parser, mlir::StringAttr &kind);
void printParamKind(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr kind);

/// `@name(%a: type, ...) attributes {...} { body }`, as kernels and score functions are written.
mlir::ParseResult parseNamedRegion(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printNamedRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Region &body);

} // namespace wavesmith::tile
