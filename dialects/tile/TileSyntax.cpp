#include "dialects/tile/TileSyntax.h"

using namespace mlir;

namespace wavesmith::tile {

ParseResult parseParamOrValue(AsmParser &parser, Attribute &value) {
  // Before the integers: those would read `true` as -1.
  if (succeeded(parser.parseOptionalKeyword("true"))) {
    value = BoolAttr::get(parser.getContext(), true);
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("false"))) {
    value = BoolAttr::get(parser.getContext(), false);
    return success();
  }
  int64_t number;
  SMLoc where = parser.getCurrentLocation();
  if (OptionalParseResult parsed = parser.parseOptionalInteger(number); parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    if (!llvm::isInt<32>(number))
      return parser.emitError(where, "a number has at most 32 bits, not ") << number;
    value = IntegerAttr::get(IntegerType::get(parser.getContext(), 32), number);
    return success();
  }
  // A builtin type is itself; every other identifier is a parameter. The verifier of tile.param
  // refuses names that would parse as types.
  Type type;
  if (OptionalParseResult parsed = parser.parseOptionalType(type); parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    value = TypeAttr::get(type);
    return success();
  }
  StringRef name;
  if (failed(parser.parseKeyword(&name)))
    return failure();
  value = ParamAttr::get(parser.getContext(), name);
  return success();
}

void printParamOrValue(AsmPrinter &printer, Attribute value) {
  if (auto param = llvm::dyn_cast<ParamAttr>(value))
    printer << param.getName();
  else if (auto boolean = llvm::dyn_cast<BoolAttr>(value))
    printer << (boolean.getValue() ? "true" : "false");
  else if (auto number = llvm::dyn_cast<IntegerAttr>(value))
    printer << number.getInt();
  else if (auto type = llvm::dyn_cast<TypeAttr>(value))
    printer << type.getValue();
  else
    printer << value;
}

ParseResult parseShape(AsmParser &parser, SmallVectorImpl<Attribute> &shape, bool dynamic) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (dynamic && succeeded(parser.parseOptionalQuestion())) {
      shape.push_back(UnitAttr::get(parser.getContext()));
      return success();
    }
    return parseParamOrValue(parser, shape.emplace_back());
  });
}

void printShape(AsmPrinter &printer, ArrayRef<Attribute> shape) {
  printer << "[";
  llvm::interleaveComma(shape, printer, [&](Attribute dimension) {
    if (llvm::isa<UnitAttr>(dimension))
      printer << "?";
    else
      printParamOrValue(printer, dimension);
  });
  printer << "]";
}

ParseResult parseParamKind(OpAsmParser &parser, StringAttr &kind) {
  if (succeeded(parser.parseOptionalKeyword("type"))) {
    kind = parser.getBuilder().getStringAttr("type");
    return success();
  }
  Type type;
  OptionalParseResult parsed = parser.parseOptionalType(type);
  if (parsed.has_value() && succeeded(*parsed) && (type.isInteger(1) || type.isInteger(32))) {
    kind = parser.getBuilder().getStringAttr(type.isInteger(1) ? "i1" : "i32");
    return success();
  }
  return parser.emitError(parser.getCurrentLocation(), "expected i1, i32 or type");
}

void printParamKind(OpAsmPrinter &printer, Operation *, StringAttr kind) {
  printer << kind.getValue();
}

ParseResult parseNamedRegion(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void printNamedRegion(OpAsmPrinter &printer, Operation *op, Region &body) {
  printer << ' ';
  printer.printSymbolName(SymbolTable::getSymbolName(op).getValue());
  printer << "(";
  llvm::interleaveComma(body.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ")";
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), {"sym_name"});
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

} // namespace wavesmith::tile
