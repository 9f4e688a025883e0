#include "compiler/rows/RowArithmetic.h"

#include <cmath>
#include <limits>

#include <llvm/ADT/bit.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>

#include "compiler/lowering/Saturate.h"
#include "runtime/spec/Rotation.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {

/// The value in [-largest, largest]; the conversion itself would make NaN of more. NaN becomes one
/// NaN: which one arithmetic gives depends on the machine, and OCP keeps its sign.
Value saturated(ImplicitLocOpBuilder &b, Value value, float largest) {
  auto constant = [&](float number) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number)).getResult();
  };
  Value bounded =
      ROCDL::FMed3Op::create(b, value.getType(), value, constant(-largest), constant(largest));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, isNan, constant(std::numeric_limits<float>::quiet_NaN()),
                                 bounded);
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
  auto element = [&](std::size_t i) {
    return to.isF16() ? saturateToF16(b, elements[i]) : elements[i];
  };
  RowElements results;
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value one = arith::ConstantOp::create(b, b.getI32IntegerAttr(1));
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(b, VectorType::get({2}, b.getF32Type()));
    pair = LLVM::InsertElementOp::create(b, pair, element(i), zero);
    pair = LLVM::InsertElementOp::create(b, pair, element(i + 1), one);
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

namespace {

/// Signs of the elements. Lanes differ, so each element has the signs of all lanes as a constant.
void applySigns(ImplicitLocOpBuilder &b, RowElements &elements, const RowLayout &layout,
                Value laneInRow, std::uint32_t seed, int first) {
  auto constant = [&](std::uint32_t number) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(number)))
        .getResult();
  };
  // To the top bit; shifts take the lane modulo 32.
  Value place = arith::AndIOp::create(b, laneInRow, constant(31));
  Value toTop = arith::SubIOp::create(b, constant(31), place);
  Value upper;
  if (layout.lanes > 32)
    upper = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, laneInRow, constant(32));
  for (auto [i, element] : llvm::enumerate(elements)) {
    const int run = static_cast<int>(i) / layout.chunk, inRun = static_cast<int>(i) % layout.chunk;
    std::uint64_t signs = 0;
    for (int lane = 0; lane < layout.lanes; ++lane) {
      const int column = first + (run * layout.lanes + lane) * layout.chunk + inRun;
      signs |= std::uint64_t{rotationNegates(seed, static_cast<std::uint32_t>(column))} << lane;
    }
    Value mask = constant(static_cast<std::uint32_t>(signs));
    if (upper)
      mask = arith::SelectOp::create(b, upper, constant(static_cast<std::uint32_t>(signs >> 32)),
                                     mask);
    Value moved = arith::ShLIOp::create(b, mask, toTop);
    Value sign = arith::AndIOp::create(b, moved, constant(0x80000000));
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), element);
    element = arith::BitcastOp::create(b, b.getF32Type(),
                                       arith::XOrIOp::create(b, bits, sign).getResult());
  }
}

/// The orthonormal transform of one block, whose elements are those of whole runs.
void transformBlock(ImplicitLocOpBuilder &b, LaneOps &lanes, MutableArrayRef<Value> elements,
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
  // Of a pair of lanes the upper one should get partner - own. It gets own - partner, which is one
  // multiply-add with the partner's value by DPP; the signs that lanes owe, the same for lanes that
  // meet later, go into the last factor.
  auto floating = [&](float number) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(number)).getResult();
  };
  const auto size = static_cast<float>(elements.size() * static_cast<std::size_t>(layout.lanes));
  Value scale = floating(1.0f / std::sqrt(size));
  for (int mask = 1; mask < layout.lanes; mask *= 2) {
    Value bit = arith::AndIOp::create(b, laneInRow, constant(mask));
    Value upper = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, constant(0));
    Value sign = arith::SelectOp::create(b, upper, floating(-1.0f), floating(1.0f));
    for (Value &element : elements)
      element = math::FmaOp::create(b, lanes.exchange(element, mask), sign, element);
    scale = arith::MulFOp::create(b, scale, sign);
  }
  for (std::size_t distance = chunk; distance < elements.size(); distance *= 2)
    inRegisters(distance);
  // Plus zero: which of two equal values was subtracted from which must not show in a zero's sign.
  for (Value &element : elements)
    element = math::FmaOp::create(b, element, scale, floating(0.0f));
}

} // namespace

RowElements rotateRow(ImplicitLocOpBuilder &b, LaneOps &lanes, RowElements elements, int size,
                      const RowLayout &layout, Value laneInRow, std::uint32_t seed, int first) {
  applySigns(b, elements, layout, laneInRow, seed, first);
  // A run is a power of two that divides the size, so no block is less than a run.
  MutableArrayRef<Value> rest(elements);
  for (int left = size; left > 0;) {
    const auto block = static_cast<int>(llvm::bit_floor(static_cast<unsigned>(left)));
    const auto perLane = static_cast<std::size_t>(layout.perLane(block));
    transformBlock(b, lanes, rest.take_front(perLane), layout, laneInRow);
    rest = rest.drop_front(perLane);
    left -= block;
  }
  return elements;
}

} // namespace wavesmith::compiler
