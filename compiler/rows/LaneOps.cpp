#include "compiler/rows/LaneOps.h"

#include <mlir/Dialect/Arith/IR/Arith.h>

namespace wavesmith::compiler {

using namespace mlir;

namespace {

// DPP controls (CDNA3 ISA, DPP_CTRL); a mirror of 2^n lanes is lane ^ (2^n - 1).
constexpr int kQuadXor1 = 0xB1, kQuadXor2 = 0x4E, kQuadXor3 = 0x1B;
constexpr int kRowRotate8 = 0x128, kRowMirror = 0x140, kHalfRowMirror = 0x141;
/// ds_swizzle in bit mode: lane ^ 16 within 32 lanes.
constexpr int kSwizzleXor16 = 16 << 10 | 0x1f;

} // namespace

Value LaneOps::dpp(Value value, int control) {
  auto &b = builder_;
  Value old = LLVM::PoisonOp::create(b, value.getType());
  return ROCDL::DPPUpdateOp::create(b, value.getType(), old, value, static_cast<uint32_t>(control),
                                    0xfu, 0xfu,
                                    /*boundCtrl=*/true);
}

Value LaneOps::exchange(Value value, int mask) {
  auto &b = builder_;
  switch (mask) {
  case 1:
    return dpp(value, kQuadXor1);
  case 2:
    return dpp(value, kQuadXor2);
  case 4:
    return dpp(dpp(value, kHalfRowMirror), kQuadXor3);
  case 8:
    return dpp(value, kRowRotate8);
  default:
    break;
  }
  auto constant = [&](int number) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(number)).getResult();
  };
  Type type = value.getType();
  Value bits = type.isF32() ? arith::BitcastOp::create(b, b.getI32Type(), value) : value;
  if (mask == 16) {
    bits = ROCDL::DsSwizzleOp::create(b, b.getI32Type(), bits, constant(kSwizzleXor16));
  } else {
    Value other = arith::XOrIOp::create(b, lane_, constant(mask));
    Value byte = arith::ShLIOp::create(b, other, constant(2));
    bits = ROCDL::DsBpermuteOp::create(b, b.getI32Type(), byte, bits);
  }
  return type.isF32() ? arith::BitcastOp::create(b, type, bits) : bits;
}

Value LaneOps::combine(tile::Combiner combiner, Value value, int from, int to) {
  for (int mask = from; mask < to; mask *= 2) {
    // A whole half is equal by now, so its mirror image serves and costs one DPP.
    bool mirror = from == 1 && (mask == 4 || mask == 8);
    Value other =
        mirror ? dpp(value, mask == 4 ? kHalfRowMirror : kRowMirror) : exchange(value, mask);
    value = combined(builder_, combiner, value, other);
  }
  return value;
}

Value combined(ImplicitLocOpBuilder &builder, tile::Combiner combiner, Value a, Value b) {
  bool isFloat = a.getType().isF32();
  if (combiner == tile::Combiner::Add)
    return isFloat ? arith::AddFOp::create(builder, a, b).getResult()
                   : arith::AddIOp::create(builder, a, b).getResult();
  return isFloat ? arith::MaxNumFOp::create(builder, a, b).getResult()
                 : arith::MaxSIOp::create(builder, a, b).getResult();
}

} // namespace wavesmith::compiler
