#pragma once
// Between builtin element types and the atoms' element types.

#include <optional>

#include <mlir/IR/BuiltinTypes.h>

#include "compiler/target/TargetFacts.h"

namespace wavesmith::compiler {

inline std::optional<ElementType> elementOf(mlir::Type type) {
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF16())
    return ElementType::F16;
  if (llvm::isa<mlir::Float8E4M3FNUZType>(type))
    return ElementType::F8E4M3Fnuz;
  if (llvm::isa<mlir::Float8E4M3FNType>(type))
    return ElementType::F8E4M3Ocp;
  return std::nullopt;
}

} // namespace wavesmith::compiler
