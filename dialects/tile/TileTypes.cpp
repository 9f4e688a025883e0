#include "dialects/tile/TileSyntax.h"

#include <llvm/ADT/TypeSwitch.h>

using namespace mlir;

namespace wavesmith::tile {

bool isParam(Attribute attribute) { return llvm::isa<ParamAttr>(attribute); }

namespace {

LogicalResult verifyDimension(function_ref<InFlightDiagnostic()> emitError, Attribute dimension) {
  if (isParam(dimension))
    return success();
  auto number = llvm::dyn_cast<IntegerAttr>(dimension);
  if (!number)
    return emitError() << "a dimension is a positive integer or a parameter, not " << dimension;
  if (number.getInt() <= 0)
    return emitError() << "a dimension is positive, not " << number.getInt();
  return success();
}

LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError, Attribute element) {
  if (isParam(element))
    return success();
  auto type = llvm::dyn_cast<TypeAttr>(element);
  if (!type || !(llvm::isa<FloatType>(type.getValue()) || type.getValue().isInteger(32) ||
                 type.getValue().isInteger(64)))
    return emitError() << "an element is a float type, i32, i64 or a parameter, not " << element;
  return success();
}

} // namespace

Type TileType::parse(AsmParser &parser) {
  SmallVector<Attribute> shape;
  Attribute element;
  Attribute layout;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, shape, /*dynamic=*/false) || parser.parseComma() ||
      parseParamOrValue(parser, element))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); }, parser.getContext(), shape, element,
                    layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape());
  printer << ", ";
  printParamOrValue(printer, getElement());
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<Attribute> shape, Attribute element, Attribute layout) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "a tile has one or two dimensions, not " << shape.size();
  for (Attribute dimension : shape)
    if (failed(verifyDimension(emitError, dimension)))
      return failure();
  if (layout && !llvm::isa<MmaAttr>(layout))
    return emitError() << "a layout is a #tile.mma, not " << layout;
  return verifyElement(emitError, element);
}

bool TileType::isBound() const {
  return !isParam(getElement()) && llvm::none_of(getShape(), isParam);
}

int64_t TileType::getDim(unsigned index) const {
  return llvm::cast<IntegerAttr>(getShape()[index]).getInt();
}

Type TileType::getElementType() const { return llvm::cast<TypeAttr>(getElement()).getValue(); }

TileType TileType::withLayout(Attribute layout) const {
  return get(getContext(), getShape(), getElement(), layout);
}

bool TensorType::isBound() const {
  return !isParam(getElement()) && llvm::none_of(getShape(), isParam);
}

bool TensorType::isDynamicDim(unsigned index) const {
  return llvm::isa<UnitAttr>(getShape()[index]);
}

int64_t TensorType::getDim(unsigned index) const {
  return llvm::cast<IntegerAttr>(getShape()[index]).getInt();
}

Type TensorType::getElementType() const { return llvm::cast<TypeAttr>(getElement()).getValue(); }

Type TensorType::parse(AsmParser &parser) {
  SmallVector<Attribute> shape;
  Attribute element;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, shape, /*dynamic=*/true) || parser.parseComma() ||
      parseParamOrValue(parser, element) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(where); }, parser.getContext(), shape, element);
}

void TensorType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape());
  printer << ", ";
  printParamOrValue(printer, getElement());
  printer << ">";
}

LogicalResult TensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Attribute> shape, Attribute element) {
  if (shape.empty() || shape.size() > 3)
    return emitError() << "a tensor has one to three dimensions, not " << shape.size();
  for (Attribute dimension : shape)
    if (!llvm::isa<UnitAttr>(dimension) && failed(verifyDimension(emitError, dimension)))
      return failure();
  return verifyElement(emitError, element);
}

} // namespace wavesmith::tile

#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.cpp.inc"

namespace wavesmith::tile {

// Here, where the generated storage classes are complete.
void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tile/TileTypes.cpp.inc"
      >();
}

} // namespace wavesmith::tile
