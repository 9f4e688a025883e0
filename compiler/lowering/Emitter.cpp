#include "compiler/lowering/Emitter.h"

#include <cassert>
#include <numeric>

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// Raw buffer: 32-bit data format, out of range reads give 0 and writes are dropped.
constexpr int kBufferFlags = 0x20000;
} // namespace

Emitter::Emitter(Location location, Block *entry, const TargetFacts &target)
    : entry_(entry), target_(target), builder_(location, location.getContext()) {
  builder_.setInsertionPointToEnd(entry);
}

Type Emitter::vector(int count, Type element) { return VectorType::get({count}, element); }
Type Emitter::pointer(unsigned addressSpace) {
  return LLVM::LLVMPointerType::get(builder_.getContext(), addressSpace);
}

Value Emitter::cached(Attribute attribute, Type type) {
  Value &value = constants_[{attribute, type}];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder_);
    if (lastConstant_)
      builder_.setInsertionPointAfter(lastConstant_);
    else
      builder_.setInsertionPointToStart(entry_);
    auto op = LLVM::ConstantOp::create(builder_, type, cast<TypedAttr>(attribute));
    lastConstant_ = op;
    value = op;
  }
  return value;
}

Value Emitter::constant(int value) { return cached(builder_.getI32IntegerAttr(value), i32()); }
Value Emitter::constant64(std::int64_t value) {
  return cached(builder_.getI64IntegerAttr(value), i64());
}
Value Emitter::constant(float value) { return cached(builder_.getF32FloatAttr(value), f32()); }
Value Emitter::zero(Type type) { return LLVM::ZeroOp::create(builder_, type); }

Value Emitter::add(Value a, Value b) { return LLVM::AddOp::create(builder_, a, b); }
Value Emitter::sub(Value a, Value b) { return LLVM::SubOp::create(builder_, a, b); }
Value Emitter::mul(Value a, Value b) { return LLVM::MulOp::create(builder_, a, b); }
Value Emitter::mul(Value a, int b) {
  if (b == 1)
    return a;
  if ((b & (b - 1)) == 0)
    return shiftLeft(a, __builtin_ctz(b));
  return mul(a, constant(b));
}
Value Emitter::shiftLeft(Value a, int bits) {
  return bits == 0 ? a : LLVM::ShlOp::create(builder_, a, constant(bits)).getResult();
}
Value Emitter::shiftRight(Value a, int bits) {
  return bits == 0 ? a : LLVM::LShrOp::create(builder_, a, constant(bits)).getResult();
}
Value Emitter::bitAnd(Value a, int mask) {
  return LLVM::AndOp::create(builder_, a, constant(mask));
}
Value Emitter::bitXor(Value a, int mask) {
  return LLVM::XOrOp::create(builder_, a, constant(mask));
}
Value Emitter::minimum(Value a, Value b) { return LLVM::SMinOp::create(builder_, a, b); }
Value Emitter::maximum(Value a, Value b) { return LLVM::SMaxOp::create(builder_, a, b); }
Value Emitter::signExtend(Value a) { return LLVM::SExtOp::create(builder_, i64(), a); }
Value Emitter::zeroExtend(Value a) { return LLVM::ZExtOp::create(builder_, i64(), a); }
Value Emitter::truncate(Value a) { return LLVM::TruncOp::create(builder_, i32(), a); }
Value Emitter::compare(LLVM::ICmpPredicate predicate, Value a, Value b) {
  return LLVM::ICmpOp::create(builder_, predicate, a, b);
}
Value Emitter::compare(LLVM::FCmpPredicate predicate, Value a, Value b) {
  auto op = LLVM::FCmpOp::create(builder_, predicate, a, b);
  op.setFastmathFlags(LLVM::FastmathFlags::nnan);
  return op;
}
Value Emitter::select(Value condition, Value a, Value b) {
  return LLVM::SelectOp::create(builder_, condition, a, b);
}

Value Emitter::fadd(Value a, Value b) { return LLVM::FAddOp::create(builder_, a, b); }
Value Emitter::fsub(Value a, Value b) { return LLVM::FSubOp::create(builder_, a, b); }
Value Emitter::fmul(Value a, Value b) { return LLVM::FMulOp::create(builder_, a, b); }
Value Emitter::fneg(Value a) { return LLVM::FNegOp::create(builder_, a); }
Value Emitter::fma(Value a, Value b, Value c) { return LLVM::FMAOp::create(builder_, a, b, c); }
Value Emitter::fmax(Value a, Value b) {
  auto op = LLVM::MaxNumOp::create(builder_, a, b);
  op.setFastmathFlags(LLVM::FastmathFlags::nnan | LLVM::FastmathFlags::nsz);
  return op;
}
Value Emitter::exp2(Value a) { return ROCDL::ROCDLExp2::create(builder_, f32(), a); }
Value Emitter::log2(Value a) { return ROCDL::ROCDLLog::create(builder_, f32(), a); }
Value Emitter::reciprocal(Value a) { return ROCDL::ROCDLRcp::create(builder_, f32(), a); }

Value Emitter::bitcast(Value a, Type type) { return LLVM::BitcastOp::create(builder_, type, a); }
Value Emitter::element(Value vector, int index) {
  return LLVM::ExtractElementOp::create(builder_, vector, constant(index));
}
Value Emitter::packVector(ArrayRef<Value> elements) {
  Value packed = LLVM::PoisonOp::create(
      builder_, vector(static_cast<int>(elements.size()), elements.front().getType()));
  for (auto [index, element] : llvm::enumerate(elements))
    packed =
        LLVM::InsertElementOp::create(builder_, packed, element, constant(static_cast<int>(index)));
  return packed;
}
Value Emitter::splat(Value scalar, int count) {
  Type type = vector(count, scalar.getType());
  Value poison = LLVM::PoisonOp::create(builder_, type);
  Value first = LLVM::InsertElementOp::create(builder_, poison, scalar, constant(0));
  return LLVM::ShuffleVectorOp::create(builder_, first, poison, SmallVector<int32_t>(count, 0));
}
Value Emitter::concatenate(ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  assert(vectors.size() % 2 == 0 && "halves");
  const std::size_t half = vectors.size() / 2;
  Value low = concatenate(vectors.take_front(half)), high = concatenate(vectors.drop_front(half));
  SmallVector<int32_t> all(2 * cast<VectorType>(low.getType()).getNumElements());
  std::iota(all.begin(), all.end(), 0);
  return LLVM::ShuffleVectorOp::create(builder_, low, high, all);
}
SmallVector<Value> Emitter::matrixOperands(Value bytes, const MfmaAtom &atom) {
  const auto type = cast<VectorType>(bytes.getType());
  const int operandBits = 32 * atom.operandRegisters;
  const int count =
      static_cast<int>(type.getNumElements() * type.getElementTypeBitWidth()) / operandBits;
  assert(count >= 1 && "fewer bytes than one operand");
  auto operandType = [&]() -> Type {
    switch (atom.form) {
    case OperandForm::I16x4:
      return vector(4, i16());
    case OperandForm::F16x4:
      return vector(4, builder_.getF16Type());
    case OperandForm::BF16x8:
      return vector(8, builder_.getBF16Type());
    case OperandForm::F16x8:
      return vector(8, builder_.getF16Type());
    case OperandForm::I64:
      return i64();
    case OperandForm::I32x8:
      return vector(8, i32());
    }
    llvm_unreachable("all forms are above");
  }();
  if (count == 1)
    return {bitcast(bytes, operandType)};
  // As elements of a wider integer vector, since that costs no instruction.
  Value parts = bitcast(bytes, vector(count, builder_.getIntegerType(operandBits)));
  SmallVector<Value> operands;
  for (int part = 0; part < count; ++part)
    operands.push_back(bitcast(element(parts, part), operandType));
  return operands;
}

Value Emitter::packHalves(ElementType element, Value low, Value high, PRounding rounding) {
  assert(isHalf(element));
  const bool f16 = element == ElementType::F16, truncated = rounding == PRounding::Truncated;
  if (f16 && truncated)
    return bitcast(ROCDL::CvtPkRtz::create(builder_, vector(2, builder_.getF16Type()), low, high),
                   i32());
  if (f16 || target_.packedConvert) {
    Type pair = vector(2, f16 ? Type(builder_.getF16Type()) : Type(builder_.getBF16Type()));
    return bitcast(LLVM::FPTruncOp::create(builder_, pair, packVector({low, high})), i32());
  }
  // No convert to bf16: round in the integer domain, keep the high halves. Carries
  // into the exponent are right; the NaNs that arithmetic produces survive.
  auto rounded = [&](Value a) {
    Value bits = bitcast(a, i32());
    if (truncated)
      return bits;
    if (rounding == PRounding::Nearest)
      return add(bits, 0x8000);
    return add(add(bits, 0x7fff), bitAnd(shiftRight(bits, 16), 1));
  };
  constexpr std::uint32_t kHighHalves = 0x07060302;
  Value lowBits = rounded(low);
  return perm(rounded(high), lowBits, kHighHalves);
}

Value Emitter::convertFp8(Value low, Value high, Value word) {
  Value old = word ? word : LLVM::PoisonOp::create(builder_, i32()).getResult();
  return ROCDL::CvtPkFp8F32Op::create(builder_, i32(), low, high, old,
                                      word ? builder_.getBoolAttr(true)
                                           : builder_.getBoolAttr(false));
}

Value Emitter::laneMap(const std::vector<BitField> &fields, Value x) {
  Value sum;
  for (const BitField &field : fields) {
    if (field.bits == 0)
      continue;
    Value term = mul(bitAnd(shiftRight(x, field.shift), (1 << field.bits) - 1), field.scale);
    sum = sum ? add(sum, term) : term;
  }
  return sum ? sum : constant(0);
}
Value Emitter::perm(Value high, Value low, std::uint32_t selector) {
  auto op =
      LLVM::CallIntrinsicOp::create(builder_, i32(), builder_.getStringAttr("llvm.amdgcn.perm"),
                                    ValueRange{high, low, constant(static_cast<int>(selector))});
  return op.getResult(0);
}
Value Emitter::readFirstLane(Value a) {
  return ROCDL::ReadfirstlaneOp::create(builder_, a.getType(), a);
}
Value Emitter::laneIndex() {
  Value all = constant(-1);
  Value low = ROCDL::MbcntLoOp::create(builder_, i32(), all, constant(0), /*arg_attrs=*/{},
                                       /*res_attrs=*/{});
  return ROCDL::MbcntHiOp::create(builder_, i32(), all, low, /*arg_attrs=*/{}, /*res_attrs=*/{});
}
Value Emitter::ballotAny(Value condition) {
  Value lanes = ROCDL::BallotOp::create(builder_, i64(), condition);
  return compare(LLVM::ICmpPredicate::ne, lanes, constant64(0));
}
std::pair<Value, Value> Emitter::withPartner(Value partner, Value a) {
  Value bits = bitcast(a, i32());
  if (!target_.permlaneSwap) {
    Value other = ROCDL::DsBpermuteOp::create(builder_, i32(), partner, bits);
    return {a, bitcast(other, f32())};
  }
  // Swaps the upper half of its first operand with the lower half of its second.
  Type pair = LLVM::LLVMStructType::getLiteral(builder_.getContext(), {i32(), i32()});
  Value both = ROCDL::Permlane32SwapOp::create(builder_, pair, bits, bits, false, false);
  auto half = [&](int64_t index) {
    return bitcast(LLVM::ExtractValueOp::create(builder_, both, index), f32());
  };
  return {half(0), half(1)};
}
Value Emitter::mfma(const MfmaAtom &atom, Value a, Value b, Value c) {
  Value none = constant(0);
  OperationState state(builder_.getLoc(), StringRef(atom.op));
  state.addOperands({a, b, c});
  // Broadcast controls; or formats, where 0 is e4m3, and scales, where 0 selects the instruction
  // without them.
  state.addOperands(SmallVector<Value>(atom.form == OperandForm::I32x8 ? 6 : 3, none));
  state.addTypes(c.getType());
  return builder_.create(state)->getResult(0);
}

Value Emitter::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder_, pointer.getType(), builder_.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
Value Emitter::offset(Value pointer, int bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(builder_, pointer.getType(), builder_.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes}, LLVM::GEPNoWrapFlags::inbounds);
}
Value Emitter::loadLds(Value pointer, Type type, int align) {
  return LLVM::LoadOp::create(builder_, type, pointer, align);
}
Value Emitter::loadLdsTransposed(Value pointer, int elementBytes) {
  if (elementBytes == 1)
    return ROCDL::ds_read_tr8_b64::create(builder_, vector(2, i32()), pointer, ArrayAttr(),
                                          ArrayAttr(), ArrayAttr());
  Type type = vector(4, builder_.getBF16Type());
  Value read = ROCDL::ds_read_tr16_b64::create(builder_, type, pointer, ArrayAttr(), ArrayAttr(),
                                               ArrayAttr());
  return bitcast(read, vector(2, i32()));
}
void Emitter::storeLds(Value value, Value pointer, int align) {
  LLVM::StoreOp::create(builder_, value, pointer, align);
}
Value Emitter::bufferResource(Value base, Value bytes) {
  Value stride = cached(builder_.getI16IntegerAttr(0), i16());
  return ROCDL::MakeBufferRsrcOp::create(builder_, pointer(8), base, stride, zeroExtend(bytes),
                                         constant(kBufferFlags));
}
Value Emitter::bufferLoad(Type type, Value resource, Value byteOffset) {
  Value none = constant(0);
  return ROCDL::RawPtrBufferLoadOp::create(builder_, type, resource, byteOffset, none, none,
                                           ArrayAttr(), ArrayAttr(), ArrayAttr());
}
void Emitter::bufferStore(Value value, Value resource, Value byteOffset) {
  Value none = constant(0);
  ROCDL::RawPtrBufferStoreOp::create(builder_, value, resource, byteOffset, none, none, ArrayAttr(),
                                     ArrayAttr(), ArrayAttr());
}
void Emitter::bufferLoadToLds(Value resource, Value ldsPointer, int bytes, Value laneOffset,
                              int immediate) {
  Value none = constant(0);
  ROCDL::RawPtrBufferLoadLdsOp::create(builder_, resource, ldsPointer, constant(bytes), laneOffset,
                                       none, constant(immediate), none, ArrayAttr(), ArrayAttr(),
                                       ArrayAttr());
}

void Emitter::schedBarrier() { ROCDL::SchedBarrier::create(builder_, 0u); }
void Emitter::barrier() {
  schedBarrier();
  ROCDL::SBarrierOp::create(builder_);
  schedBarrier();
}
void Emitter::waitVectorMemory(int inFlight) {
  assert(inFlight >= 0 && inFlight < 64);
  ROCDL::SWaitcntOp::create(
      builder_, static_cast<uint32_t>(0x0F70 | (inFlight & 15) | ((inFlight >> 4) << 14)));
}
void Emitter::waitLds(int inFlight) {
  assert(inFlight >= 0 && inFlight < 16);
  ROCDL::SWaitcntOp::create(builder_, static_cast<uint32_t>(0xC07F | (inFlight << 8)));
}
void Emitter::setPriority(int priority) {
  ROCDL::SetPrioOp::create(builder_, static_cast<uint16_t>(priority));
}
void Emitter::nop(int count) { ROCDL::SNopOp::create(builder_, static_cast<uint16_t>(count)); }

Block *Emitter::newBlock(TypeRange arguments) {
  Block *block = new Block;
  entry_->getParent()->push_back(block);
  for (Type type : arguments)
    block->addArgument(type, builder_.getLoc());
  return block;
}
void Emitter::branch(Block *target, ValueRange arguments) {
  LLVM::BrOp::create(builder_, arguments, target);
}
void Emitter::branchIf(Value condition, Block *ifTrue, ValueRange trueArguments, Block *ifFalse,
                       ValueRange falseArguments, std::pair<int, int> weights) {
  std::optional<std::pair<uint32_t, uint32_t>> profile;
  if (weights.first || weights.second)
    profile = {static_cast<uint32_t>(weights.first), static_cast<uint32_t>(weights.second)};
  LLVM::CondBrOp::create(builder_, condition, ifTrue, trueArguments, ifFalse, falseArguments,
                         profile);
}

} // namespace wavesmith::compiler
