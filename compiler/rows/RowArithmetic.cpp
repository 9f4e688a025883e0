#include "compiler/rows/RowArithmetic.h"

#include <cmath>

#include <mlir/Dialect/Arith/IR/Arith.h>

namespace wavesmith::compiler {

using namespace mlir;

namespace {

/// One value in [-largest, largest], NaN as it is: the conversion itself would make NaN of more.
Value saturated(ImplicitLocOpBuilder &b, Value value, float largest) {
  auto constant = [&](float number) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number)).getResult();
  };
  Value bounded = arith::MaximumFOp::create(
      b, arith::MinimumFOp::create(b, value, constant(largest)), constant(-largest));
  return bounded;
}

RowElements toFp8(ImplicitLocOpBuilder &b, const RowElements &elements, Type to) {
  const auto &semantics = llvm::cast<FloatType>(to).getFloatSemantics();
  float largest = llvm::APFloat::getLargest(semantics).convertToFloat();
  RowElements words;
  for (std::size_t i = 0; i + 3 < elements.size(); i += 4) {
    Value word = LLVM::PoisonOp::create(b, b.getI32Type());
    for (int half : {0, 1})
      word = ROCDL::CvtPkFp8F32Op::create(
          b, b.getI32Type(), saturated(b, elements[i + 2 * half], largest),
          saturated(b, elements[i + 2 * half + 1], largest), word, half == 1);
    words.push_back(word);
  }
  return words;
}

/// Two at a time: gfx950 has an instruction for the pair.
RowElements truncatePairs(ImplicitLocOpBuilder &b, const RowElements &elements, Type to) {
  RowElements results;
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value one = arith::ConstantOp::create(b, b.getI32IntegerAttr(1));
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(b, VectorType::get({2}, b.getF32Type()));
    pair = LLVM::InsertElementOp::create(b, pair, elements[i], zero);
    pair = LLVM::InsertElementOp::create(b, pair, elements[i + 1], one);
    Value narrow = LLVM::FPTruncOp::create(b, VectorType::get({2}, to), pair);
    results.push_back(LLVM::ExtractElementOp::create(b, narrow, zero));
    results.push_back(LLVM::ExtractElementOp::create(b, narrow, one));
  }
  return results;
}

} // namespace

RowElements convertRow(ImplicitLocOpBuilder &b, const RowElements &elements, Type from, Type to) {
  if (from == to)
    return elements;
  bool fromHalf = from.isBF16() || from.isF16(), toHalf = to.isBF16() || to.isF16();
  if (from.isF32() && isFp8(to))
    return toFp8(b, elements, to);
  if (from.isF32() && toHalf)
    return truncatePairs(b, elements, to);
  RowElements results;
  if (fromHalf && to.isF32())
    for (Value element : elements)
      results.push_back(arith::ExtFOp::create(b, to, element));
  return results;
}

RowElements hadamardRow(ImplicitLocOpBuilder &b, LaneOps &lanes, RowElements elements, int size,
                        const RowLayout &layout, Value laneInRow) {
  // Element index: run number, lane, place in the run, from the highest bit to the lowest.
  auto inRegisters = [&](std::size_t distance) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i & distance)
        continue;
      Value low = elements[i], high = elements[i + distance];
      elements[i] = arith::AddFOp::create(b, low, high);
      elements[i + distance] = arith::SubFOp::create(b, low, high);
    }
  };
  auto constant = [&](int number) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(number)).getResult();
  };
  const auto chunk = static_cast<std::size_t>(layout.chunk);
  for (std::size_t distance = 1; distance < chunk; distance *= 2)
    inRegisters(distance);
  for (int mask = 1; mask < layout.lanes; mask *= 2) {
    // The upper lane of a pair gets the difference: its own value changes sign.
    Value bit = arith::AndIOp::create(b, laneInRow, constant(mask));
    Value sign = arith::ShLIOp::create(b, bit, constant(31 - llvm::Log2_32(mask)));
    for (Value &element : elements) {
      Value bits = arith::BitcastOp::create(b, b.getI32Type(), element);
      Value own = arith::BitcastOp::create(b, b.getF32Type(),
                                           arith::XOrIOp::create(b, bits, sign).getResult());
      element = arith::AddFOp::create(b, lanes.exchange(element, mask), own);
    }
  }
  for (std::size_t distance = chunk; distance < elements.size(); distance *= 2)
    inRegisters(distance);
  Value scale =
      arith::ConstantOp::create(b, b.getF32FloatAttr(1.0f / std::sqrt(static_cast<float>(size))));
  for (Value &element : elements)
    element = arith::MulFOp::create(b, element, scale);
  return elements;
}

} // namespace wavesmith::compiler
