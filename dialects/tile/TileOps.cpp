#include "dialects/tile/TileSyntax.h"

#include <mlir/IR/OpImplementation.h>

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

namespace wavesmith::tile {

//===-- Declarations -------------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  static constexpr StringRef reserved[] = {"index",  "none",   "true",   "false", "type",
                                           "tensor", "vector", "memref", "tuple", "complex"};
  StringRef name = getSymName();
  bool likeType = name.size() > 1 && (name[0] == 'i' || name[0] == 'f') && isdigit(name[1]);
  if (likeType || name.starts_with("bf16") || llvm::is_contained(reserved, name))
    return emitOpError() << "'" << name << "' is a builtin keyword; a parameter needs another name";
  if (!llvm::all_of(name, [](char c) { return isalnum(c) || c == '_'; }))
    return emitOpError() << "'" << name << "' is not a bare identifier (letters, digits, '_')";
  if (ArrayAttr allowed = getAllowedAttr()) {
    for (Attribute value : allowed) {
      bool isType = llvm::isa<TypeAttr>(value);
      if (isType != (getKind() == "type"))
        return emitOpError() << "allowed value " << value << " is not of kind " << getKind();
    }
  }
  return success();
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseNamedRegion(parser, result);
}
void KernelOp::print(OpAsmPrinter &printer) { printNamedRegion(printer, *this, getBody()); }

ParseResult ScoreOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseNamedRegion(parser, result);
}
void ScoreOp::print(OpAsmPrinter &printer) { printNamedRegion(printer, *this, getBody()); }

LogicalResult ScoreOp::verify() {
  Block &body = getBody().front();
  bool right = body.getNumArguments() >= 5 && body.getArgument(0).getType().isF32();
  for (unsigned i = 1; right && i < 5; ++i)
    right = body.getArgument(i).getType().isInteger(32);
  for (unsigned i = 5; right && i < body.getNumArguments(); ++i)
    right = body.getArgument(i).getType().isInteger(32) || body.getArgument(i).getType().isF32();
  if (!right)
    return emitOpError() << "takes (score: f32, query: i32, key: i32, len_q: i32, len_kv: i32), "
                            "then i32 and f32";
  auto end = llvm::dyn_cast<ReturnOp>(body.getTerminator());
  if (!end || end.getOperands().size() != 1 || !end.getOperands()[0].getType().isF32())
    return emitOpError() << "ends in tile.return of one f32";
  return success();
}

//===-- Control ------------------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  if (!llvm::isa<ParamAttr, IntegerAttr>(getCondition()))
    return emitOpError() << "condition is a parameter, a boolean or a number, not "
                         << getCondition();
  if (getNumResults() && getElseRegion().empty())
    return emitOpError() << "has results, so it needs an else region";
  for (Region *region : getRegions()) {
    if (region->empty())
      continue;
    Operation *end = region->front().getTerminator();
    if (end->getOperandTypes() != getResultTypes())
      return end->emitOpError() << "yields " << end->getNumOperands()
                                << " values whose types differ from the results of tile.if";
  }
  return success();
}

ParseResult ForKeysOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  OpAsmParser::UnresolvedOperand unit;
  SmallVector<Type> types;
  Attribute step;
  Type keys = KeysType::get(parser.getContext());
  do {
    arguments.emplace_back();
    if (parser.parseArgument(arguments.back()))
      return failure();
    arguments.back().type = keys;
  } while (succeeded(parser.parseOptionalComma()));
  size_t keyCount = arguments.size();
  if (parser.parseKeyword("of") || parser.parseOperand(unit) || parser.parseKeyword("step") ||
      parseParamOrValue(parser, step))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("iter"))) {
    auto parseOne = [&]() -> ParseResult {
      return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                     parser.parseOperand(inits.emplace_back()));
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
        parser.parseArrowTypeList(types))
      return failure();
  }
  SMLoc where = parser.getCurrentLocation();
  if (types.size() != inits.size())
    return parser.emitError(where) << "expected " << inits.size() << " result types";
  for (auto [argument, type] : llvm::zip(llvm::drop_begin(arguments, keyCount), types))
    argument.type = type;
  result.addAttribute("step", step);
  if (parser.resolveOperand(unit, UnitType::get(parser.getContext()), result.operands) ||
      parser.resolveOperands(inits, types, where, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  result.addTypes(types);
  return success();
}

void ForKeysOp::print(OpAsmPrinter &printer) {
  Block &body = getBody().front();
  size_t keyCount = body.getNumArguments() - getInits().size();
  printer << ' ';
  llvm::interleaveComma(body.getArguments().take_front(keyCount), printer);
  printer << " of " << getUnit() << " step ";
  printParamOrValue(printer, getStep());
  if (!getInits().empty()) {
    printer << " iter(";
    llvm::interleaveComma(
        llvm::zip(body.getArguments().drop_front(keyCount), getInits()), printer,
        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
    printer << ")";
    printer.printArrowTypeList(getResultTypes());
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"step"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ForKeysOp::verify() {
  Block &body = getBody().front();
  size_t keyCount = getSchedule() ? 2 : 1;
  if (body.getNumArguments() != keyCount + getInits().size())
    return emitOpError() << "with " << getInits().size() << " carried values needs "
                         << keyCount + getInits().size() << " body arguments, has "
                         << body.getNumArguments();
  Operation *end = body.getTerminator();
  if (end->getOperandTypes() != getResultTypes() || getInits().getTypes() != getResultTypes())
    return emitOpError() << "carried values, yielded values and results differ in type";
  if (!isParam(getStep()) && !llvm::isa<IntegerAttr>(getStep()))
    return emitOpError() << "step is an integer or a parameter, not " << getStep();
  return success();
}

LogicalResult PhaseOp::verify() {
  Operation *end = getBody().front().getTerminator();
  if (end->getOperandTypes() != getResultTypes())
    return end->emitOpError() << "yields " << end->getNumOperands()
                              << " values whose types differ from the results of tile.phase";
  return success();
}

//===-- Memory and arithmetic ----------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  TensorType tensor = getTensor().getType();
  TileType tile = getTile().getType();
  if (tensor.getElement() != tile.getElement())
    return emitOpError() << "tile and tensor differ in element";
  if (tensor.getShape().size() != 3 || tile.getShape().size() != 2)
    return emitOpError() << "loads a [rows, dim] tile from a [tokens, heads, dim] tensor";
  if (tensor.getShape().back() != tile.getShape().back())
    return emitOpError() << "tile and tensor differ in their last dimension";
  return success();
}

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto score = symbols.lookupNearestSymbolFrom<ScoreOp>(*this, getFunctionAttr());
  if (!score)
    return emitOpError() << "there is no score function " << getFunctionAttr();
  ArrayRef<BlockArgument> wanted = score.getBody().front().getArguments().drop_front(5);
  if (!llvm::equal(getValues().getTypes(), TypeRange(wanted)))
    return emitOpError() << "gives " << getFunctionAttr() << " " << getValues().size()
                         << " values that differ from its arguments behind the lengths ("
                         << wanted.size() << ")";
  return success();
}

LogicalResult DotOp::verify() {
  ArrayRef<Attribute> lhs = getLhs().getType().getShape();
  ArrayRef<Attribute> rhs = getRhs().getType().getShape();
  ArrayRef<Attribute> result = getResult().getType().getShape();
  if (lhs.size() != 2 || rhs.size() != 2 || result.size() != 2)
    return emitOpError() << "operands and result are matrices";
  Attribute k = rhs[getTransposed() ? 1 : 0];
  Attribute n = rhs[getTransposed() ? 0 : 1];
  if (lhs[1] != k)
    return emitOpError() << "contracts dimensions that differ: " << lhs[1] << " and " << k;
  if (result[0] != lhs[0] || result[1] != n)
    return emitOpError() << "result is not [rows of lhs, columns of rhs]";
  if (getLhs().getType().getElement() != getRhs().getType().getElement())
    return emitOpError() << "operands differ in element";
  if (getAcc() && getAcc().getType() != getResult().getType())
    return emitOpError() << "accumulator and result differ in type";
  return success();
}

} // namespace wavesmith::tile
