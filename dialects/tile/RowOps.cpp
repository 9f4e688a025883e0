// Syntax and verifiers of the row operations.

#include "dialects/tile/TileSyntax.h"

#include <mlir/IR/OpImplementation.h>

using namespace mlir;

namespace wavesmith::tile {

namespace {

/// The element type, or null while it is a parameter.
Type elementOf(Attribute element) {
  auto type = llvm::dyn_cast<TypeAttr>(element);
  return type ? type.getValue() : Type();
}

bool fits(Attribute element, Type type) { return isParam(element) || elementOf(element) == type; }

LogicalResult verifyRow(Operation *op, TileType tile) {
  if (tile.getShape().size() != 1)
    return op->emitOpError() << "works on rows, tiles of one dimension, not on " << tile;
  return success();
}

/// What stands behind the last `?` is packed, so no `?` may follow a fixed dimension.
LogicalResult verifyPacked(Operation *op, TensorType tensor) {
  bool fixed = false;
  for (Attribute dimension : tensor.getShape()) {
    bool dynamic = llvm::isa<UnitAttr>(dimension);
    if (dynamic && fixed)
      return op->emitOpError() << "'?' follows a fixed dimension in " << tensor;
    fixed |= !dynamic;
  }
  return success();
}

LogicalResult verifyElement(Operation *op, TensorType tensor, OperandRange indices, Type value) {
  if (failed(verifyPacked(op, tensor)))
    return failure();
  if (indices.size() != tensor.getShape().size())
    return op->emitOpError() << "needs " << tensor.getShape().size() << " indices, has "
                             << indices.size();
  if (value && !fits(tensor.getElement(), value))
    return op->emitOpError() << "value is " << value << ", an element of the tensor is "
                             << tensor.getElement();
  return success();
}

LogicalResult verifyRowAccess(Operation *op, TensorType tensor, OperandRange indices, TileType tile,
                              std::optional<uint32_t> first) {
  if (failed(verifyRow(op, tile)) || failed(verifyPacked(op, tensor)))
    return failure();
  if (indices.size() + 1 != tensor.getShape().size())
    return op->emitOpError() << "needs " << tensor.getShape().size() - 1 << " indices, has "
                             << indices.size();
  if (tensor.getElement() != tile.getElement())
    return op->emitOpError() << "tile and tensor differ in element";
  Attribute width = tensor.getShape().back(), size = tile.getShape().front();
  if (llvm::isa<UnitAttr>(width))
    return op->emitOpError() << "the last dimension of the tensor must be fixed";
  auto widthNumber = llvm::dyn_cast<IntegerAttr>(width);
  auto sizeNumber = llvm::dyn_cast<IntegerAttr>(size);
  if (widthNumber && sizeNumber &&
      int64_t(first.value_or(0)) + sizeNumber.getInt() > widthNumber.getInt())
    return op->emitOpError() << "elements " << first.value_or(0) << " to "
                             << int64_t(first.value_or(0)) + sizeNumber.getInt()
                             << " are not all among the tensor's " << widthNumber.getInt();
  if (!op->getParentOfType<ForRowsOp>())
    return op->emitOpError() << "belongs into tile.for_rows";
  return success();
}

} // namespace

//===-- Loops --------------------------------------------------------------------------------===//

ParseResult ForRowsOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument row;
  OpAsmParser::UnresolvedOperand count;
  Type i32 = parser.getBuilder().getI32Type();
  StringRef axisName;
  if (parser.parseArgument(row) || parser.parseKeyword("of") || parser.parseOperand(count) ||
      parser.parseKeyword("across"))
    return failure();
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&axisName))
    return failure();
  std::optional<Axis> axis = symbolizeAxis(axisName);
  if (!axis)
    return parser.emitError(where) << "expected x or y, not '" << axisName << "'";
  result.addAttribute("axis", AxisAttr::get(parser.getContext(), *axis));
  row.type = i32;
  if (parser.resolveOperand(count, i32, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), row))
    return failure();
  Region &body = *result.regions.front();
  if (body.front().empty() || !body.front().back().hasTrait<OpTrait::IsTerminator>()) {
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToEnd(&body.front());
    YieldOp::create(builder, result.location);
  }
  return success();
}

void ForRowsOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBody().getArgument(0) << " of " << getCount() << " across "
          << stringifyAxis(getAxis());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"axis"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

LogicalResult ForRowsOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isInteger(32))
    return emitOpError() << "has one body argument, the row's index (i32)";
  auto end = llvm::dyn_cast<YieldOp>(body.getTerminator());
  if (!end || end.getNumOperands() != 0)
    return emitOpError() << "yields nothing";
  if ((*this)->getParentOfType<ForRowsOp>())
    return emitOpError() << "does not nest";
  return success();
}

//===-- Memory -------------------------------------------------------------------------------===//

LogicalResult ReadOp::verify() {
  return verifyElement(*this, getTensor().getType(), getIndices(), getValue().getType());
}

LogicalResult WriteOp::verify() {
  return verifyElement(*this, getTensor().getType(), getIndices(), getValue().getType());
}

LogicalResult LoadRowOp::verify() {
  return verifyRowAccess(*this, getTensor().getType(), getIndices(), getTile().getType(),
                         getFirst());
}

LogicalResult StoreRowOp::verify() {
  return verifyRowAccess(*this, getTensor().getType(), getIndices(), getTile().getType(),
                         getFirst());
}

/// What the rows of a loop have in common: no row's own index leads there.
static LogicalResult verifyShared(Operation *op, OperandRange indices) {
  auto rows = llvm::dyn_cast<ForRowsOp>(op->getParentOp());
  if (!rows)
    return op->emitOpError() << "stands directly in tile.for_rows";
  for (Value index : indices)
    if (rows.getBody().isAncestor(index.getParentRegion()))
      return op->emitOpError() << "indices are the same for all rows, so they are made outside of "
                                  "the loop";
  return success();
}

LogicalResult AccumulateOp::verify() {
  TensorType tensor = getTensor().getType();
  if (failed(verifyElement(*this, tensor, getIndices(), Type())))
    return failure();
  Type value = getValue().getType();
  if (Type element = elementOf(tensor.getElement())) {
    bool widened = value.isInteger(32) && element.isInteger(64);
    if (element != value && !widened)
      return emitOpError() << "cannot accumulate " << value << " into elements of " << element;
  }
  if (getCombiner() == Combiner::Add && !value.isInteger(32))
    return emitOpError() << "sums of " << value << " depend on the order; only i32 is added";
  return verifyShared(*this, getIndices());
}

LogicalResult CountOp::verify() {
  TensorType tensor = getTensor().getType();
  TileType classes = getClasses().getType();
  if (failed(verifyRow(*this, classes)) || failed(verifyPacked(*this, tensor)))
    return failure();
  if (getIndices().size() + 1 != tensor.getShape().size())
    return emitOpError() << "needs " << tensor.getShape().size() - 1 << " indices, has "
                         << getIndices().size();
  if (llvm::isa<UnitAttr>(tensor.getShape().back()))
    return emitOpError() << "the last dimension of the tensor must be fixed";
  if (Type type = elementOf(classes.getElement()); !type || !type.isInteger(32))
    return emitOpError() << "classes are i32, not " << classes.getElement();
  Type element = elementOf(tensor.getElement());
  if (!element || !(element.isInteger(32) || element.isInteger(64)))
    return emitOpError() << "counts are i32 or i64, not " << tensor.getElement();
  return verifyShared(*this, getIndices());
}

//===-- Arithmetic ---------------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyRow(*this, tile)))
    return failure();
  if (!fits(tile.getElement(), getValue().getType()))
    return emitOpError() << "value and elements differ in type";
  return success();
}

LogicalResult LargestOp::verify() {
  auto type = llvm::dyn_cast<TypeAttr>(getElement());
  if (!isParam(getElement()) && !(type && llvm::isa<FloatType>(type.getValue())))
    return emitOpError() << "needs a float type or a parameter, not " << getElement();
  return success();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> types;
  Type resultType;
  auto parseOne = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(inputs.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon())
    return failure();
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) && (parser.parseTypeList(types) || parser.parseRParen()))
    return failure();
  if (parser.parseArrow() || parser.parseType(resultType))
    return failure();
  if (types.size() != inputs.size())
    return parser.emitError(where) << "expected " << inputs.size() << " types";
  for (auto [argument, type] : llvm::zip(arguments, types)) {
    auto tile = llvm::dyn_cast<TileType>(type);
    argument.type = tile ? elementOf(tile.getElement()) : Type();
    if (!argument.type)
      return parser.emitError(where) << "maps tiles whose element is a type, not " << type;
  }
  if (parser.resolveOperands(inputs, types, where, result.operands) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  result.addTypes(resultType);
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : (";
  llvm::interleaveComma(getInputs().getTypes(), printer);
  printer << ") -> " << getResult().getType() << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult MapOp::verify() {
  TileType result = getResult().getType();
  if (failed(verifyRow(*this, result)))
    return failure();
  Block &body = getBody().front();
  if (getInputs().empty() || body.getNumArguments() != getInputs().size())
    return emitOpError() << "has one body argument for each input, at least one";
  for (auto [input, argument] : llvm::zip(getInputs(), body.getArguments())) {
    auto tile = llvm::cast<TileType>(input.getType());
    if (tile.getShape() != result.getShape())
      return emitOpError() << "inputs and result differ in size";
    if (!fits(tile.getElement(), argument.getType()))
      return emitOpError() << "body argument is " << argument.getType() << ", the elements are "
                           << tile.getElement();
  }
  auto end = llvm::dyn_cast<YieldOp>(body.getTerminator());
  if (!end || end.getNumOperands() != 1 || !fits(result.getElement(), end.getOperand(0).getType()))
    return emitOpError() << "yields one element of the result";
  for (Operation &op : body) {
    if (op.getNumRegions() != 0)
      return op.emitOpError() << "has regions, so it cannot be in tile.map";
    for (Type type : op.getOperandTypes())
      if (llvm::isa<TileType>(type))
        return op.emitOpError() << "uses a tile inside tile.map";
  }
  return success();
}

LogicalResult ConvertOp::verify() {
  TileType input = getInput().getType(), result = getResult().getType();
  if (failed(verifyRow(*this, input)) || failed(verifyRow(*this, result)))
    return failure();
  if (input.getShape() != result.getShape())
    return emitOpError() << "input and result differ in size";
  auto isFloat = [](Attribute element) {
    return isParam(element) || llvm::isa<FloatType>(elementOf(element));
  };
  if (!isFloat(input.getElement()) || !isFloat(result.getElement()))
    return emitOpError() << "converts between float types";
  return success();
}

LogicalResult ReduceOp::verify() {
  TileType input = getInput().getType();
  if (failed(verifyRow(*this, input)))
    return failure();
  if (!fits(input.getElement(), getResult().getType()))
    return emitOpError() << "elements and result differ in type";
  return success();
}

LogicalResult RotateOp::verify() {
  TileType input = getInput().getType();
  if (failed(verifyRow(*this, input)))
    return failure();
  if (!fits(input.getElement(), Float32Type::get(getContext())))
    return emitOpError() << "rotates f32";
  for (auto [name, value] : {std::pair{"seed", getSeedAttr()}, {"column", getFirstAttr()}}) {
    auto number = llvm::dyn_cast_if_present<IntegerAttr>(value);
    if (value && !isParam(value) && !(number && number.getType().isInteger(32)))
      return emitOpError() << "needs a number or a parameter as " << name << ", not " << value;
  }
  return success();
}

} // namespace wavesmith::tile
