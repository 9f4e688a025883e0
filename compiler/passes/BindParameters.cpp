#include "compiler/passes/Passes.h"

#include <llvm/ADT/StringMap.h>
#include <mlir/AsmParser/AsmParser.h>
#include <mlir/IR/AttrTypeSubElements.h>

#include "dialects/tile/Tile.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_BINDPARAMETERS
#include "compiler/passes/Passes.h.inc"

namespace {

/// The attribute for a value's text, of the kind that the declaration asks for; null if it is not.
Attribute parseValue(StringRef text, StringRef kind, MLIRContext *context) {
  if (kind == "type") {
    Type type = parseType(text, context);
    return type ? TypeAttr::get(type) : Attribute();
  }
  if (kind == "i1") {
    if (text != "true" && text != "false")
      return {};
    return BoolAttr::get(context, text == "true");
  }
  int32_t number;
  if (text.getAsInteger(10, number))
    return {};
  return IntegerAttr::get(IntegerType::get(context, 32), number);
}

bool isAllowed(tile::ParamOp param, Attribute value) {
  ArrayAttr allowed = param.getAllowedAttr();
  return !allowed || llvm::any_of(allowed, [&](Attribute candidate) {
    auto wanted = llvm::dyn_cast<IntegerAttr>(candidate);
    auto given = llvm::dyn_cast<IntegerAttr>(value);
    return wanted && given ? wanted.getInt() == given.getInt() : candidate == value;
  });
}

struct BindParametersPass : impl::BindParametersBase<BindParametersPass> {
  using BindParametersBase::BindParametersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<StringRef> given;
    SmallVector<StringRef> pairs;
    StringRef(values).split(pairs, ',', -1, /*KeepEmpty=*/false);
    for (StringRef pair : pairs) {
      auto [name, value] = pair.split('=');
      if (!given.try_emplace(name.trim(), value.trim()).second) {
        module.emitError() << "parameter '" << name << "' is given twice";
        return signalPassFailure();
      }
    }

    llvm::StringMap<Attribute> bound;
    for (tile::ParamOp param : llvm::make_early_inc_range(module.getOps<tile::ParamOp>())) {
      auto found = given.find(param.getSymName());
      if (found == given.end()) {
        param.emitError() << "parameter '" << param.getSymName() << "' has no value";
        return signalPassFailure();
      }
      Attribute value = parseValue(found->second, param.getKind(), &getContext());
      if (!value || !isAllowed(param, value)) {
        InFlightDiagnostic error = param.emitError();
        error << "parameter '" << param.getSymName() << "' is " << param.getKind();
        if (param.getAllowedAttr())
          error << " in " << param.getAllowedAttr();
        error << ", not '" << found->second << "'";
        return signalPassFailure();
      }
      bound[param.getSymName()] = value;
      given.erase(found);
      param.erase();
    }
    for (auto &left : given) {
      module.emitError() << "the template has no parameter '" << left.first() << "'";
      return signalPassFailure();
    }

    AttrTypeReplacer replacer;
    StringRef unbound;
    auto valueOf = [&](tile::ParamAttr param) -> Attribute {
      auto found = bound.find(param.getName());
      if (found != bound.end())
        return found->second;
      unbound = param.getName();
      return param;
    };
    replacer.addReplacement(
        [&](tile::ParamAttr param) -> std::optional<Attribute> { return valueOf(param); });
    // The replacer makes types unchecked, and a value may be of a kind that its place does not
    // take.
    bool misfits = false;
    auto bindType = [&](auto type, auto... more) -> std::optional<std::pair<Type, WalkResult>> {
      auto replace = [&](Attribute part) {
        auto param = llvm::dyn_cast<tile::ParamAttr>(part);
        return param ? valueOf(param) : part;
      };
      SmallVector<Attribute> shape = llvm::map_to_vector(type.getShape(), replace);
      Type result = decltype(type)::getChecked(
          [&] { return module.emitError() << type << " with its parameters bound: "; },
          &getContext(), ArrayRef<Attribute>(shape), replace(type.getElement()), more...);
      misfits |= !result;
      return std::pair(result ? result : Type(type), WalkResult::skip());
    };
    replacer.addReplacement([&](tile::TileType type) { return bindType(type, type.getLayout()); });
    replacer.addReplacement([&](tile::TensorType type) { return bindType(type); });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!unbound.empty()) {
      module.emitError() << "parameter '" << unbound << "' is used but not declared";
      signalPassFailure();
    }
    if (misfits)
      signalPassFailure();
  }
};

} // namespace
} // namespace wavesmith::compiler
