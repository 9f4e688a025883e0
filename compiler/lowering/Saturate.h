#pragma once
// What float32 gives on the way to a narrower type. Pure: only appends to the builder.

#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/ImplicitLocOpBuilder.h>

#include "compiler/target/TargetFacts.h"

namespace wavesmith::compiler {

/// Keeps what is finite in the range of float16: a weighted mean may be past its largest element by
/// the roundings of weights and sums, and would become infinite. Infinities and NaN stay.
inline mlir::Value saturateToF16(mlir::ImplicitLocOpBuilder &b, mlir::Value value) {
  using namespace mlir;
  const auto largest = static_cast<float>(largestOf(ElementType::F16));
  auto constant = [&](float number) {
    return LLVM::ConstantOp::create(b, b.getF32FloatAttr(number)).getResult();
  };
  Value bounded =
      ROCDL::FMed3Op::create(b, b.getF32Type(), value, constant(-largest), constant(largest));
  constexpr auto kNotFinite =
      static_cast<std::uint32_t>(llvm::fcNan) | static_cast<std::uint32_t>(llvm::fcInf);
  Value stays = LLVM::IsFPClass::create(b, b.getI1Type(), value, kNotFinite);
  return LLVM::SelectOp::create(b, stays, value, bounded);
}

} // namespace wavesmith::compiler
