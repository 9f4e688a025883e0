#include "compiler/rows/RowMemory.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/IRMapping.h>

namespace wavesmith::compiler {

using namespace mlir;

namespace {

constexpr unsigned kGlobal = 1;

/// Fills the block of arguments up to 16 bytes: LLVM reads arguments by whole powers of two.
void padArguments(SmallVectorImpl<Type> &types, Type i32) {
  constexpr unsigned kBlock = 16;
  unsigned bytes = 0;
  for (Type type : types) {
    unsigned size = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() / 8 : 8;
    bytes = static_cast<unsigned>(llvm::alignTo(bytes, size)) + size;
  }
  for (; bytes % kBlock != 0; bytes += 4)
    types.push_back(i32);
}

} // namespace

RowMemory::RowMemory(ImplicitLocOpBuilder &builder, tile::KernelOp kernel, StringRef name,
                     int threads, IRMapping &scalars)
    : builder_(builder) {
  MLIRContext *context = kernel.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context, kGlobal), i64 = builder.getI64Type();
  SmallVector<Type> types;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto tensor = llvm::dyn_cast<tile::TensorType>(argument.getType());
    types.push_back(tensor ? pointer : argument.getType());
    for (unsigned i = 0; tensor && i < tensor.getShape().size(); ++i)
      if (tensor.isDynamicDim(i))
        types.push_back(i64);
  }
  padArguments(types, builder.getI32Type());
  builder.setInsertionPointAfter(kernel);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function = LLVM::LLVMFuncOp::create(builder, name, type);
  function->setAttr("rocdl.kernel", builder.getUnitAttr());
  const std::string size = std::to_string(threads);
  function->setAttr("rocdl.flat_work_group_size", builder.getStringAttr(size + "," + size));
  function->setAttr("rocdl.uniform_work_group_size", builder.getBoolAttr(true));
  function.setPassthroughAttr(builder.getArrayAttr(
      {builder.getStringAttr("nounwind"), builder.getStrArrayAttr({"amdgpu-ieee", "false"})}));

  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto next = entry->args_begin();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto tensor = llvm::dyn_cast<tile::TensorType>(argument.getType());
    if (!tensor) {
      scalars.map(argument, *next++);
      continue;
    }
    Argument &made = arguments_[argument];
    made.type = tensor;
    made.base = *next++;
    for (unsigned i = 0; i < tensor.getShape().size(); ++i)
      if (tensor.isDynamicDim(i))
        made.strides.push_back(*next++);
  }
}

Value RowMemory::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder_, pointer.getType(), builder_.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value RowMemory::address(Value tensor, ValueRange indices) {
  const Argument &argument = arguments_.at(tensor);
  tile::TensorType type = argument.type;
  Type i64 = builder_.getI64Type();
  Value bytes;
  unsigned stride = 0;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    Value step;
    if (type.isDynamicDim(static_cast<unsigned>(dimension))) {
      step = argument.strides[stride++];
    } else {
      int64_t packed = bytesOf(type.getElementType());
      for (unsigned inner = static_cast<unsigned>(dimension) + 1; inner < type.getShape().size();
           ++inner)
        packed *= type.getDim(inner);
      step = arith::ConstantOp::create(builder_, builder_.getI64IntegerAttr(packed));
    }
    Value wide = arith::ExtSIOp::create(builder_, i64, index);
    Value term = arith::MulIOp::create(builder_, wide, step);
    bytes = bytes ? arith::AddIOp::create(builder_, bytes, term) : term;
  }
  return bytes ? offset(argument.base, bytes) : argument.base;
}

Value RowMemory::laneOffset(Value laneInRow, int bytes) {
  Value size = arith::ConstantOp::create(builder_, builder_.getI32IntegerAttr(bytes));
  Value product = arith::MulIOp::create(builder_, laneInRow, size);
  return arith::ExtUIOp::create(builder_, builder_.getI64Type(), product);
}

Value RowMemory::readElement(Value tensor, ValueRange indices) {
  Type type = arguments_.at(tensor).type.getElementType();
  return LLVM::LoadOp::create(builder_, type, address(tensor, indices), bytesOf(type));
}

void RowMemory::writeElement(Value value, Value tensor, ValueRange indices) {
  LLVM::StoreOp::create(builder_, value, address(tensor, indices), bytesOf(value.getType()));
}

RowElements RowMemory::loadRow(Value tensor, ValueRange indices, int first, int size,
                               const RowLayout &layout, Value laneInRow) {
  auto &b = builder_;
  Type element = arguments_.at(tensor).type.getElementType();
  int bytes = bytesOf(element), run = layout.chunk * bytes;
  Value base = offset(address(tensor, indices), laneOffset(laneInRow, run));
  Type part = isFp8(element) ? b.getI32Type() : element;
  int parts = run / bytesOf(part);
  RowElements elements;
  for (int i = 0; i < layout.runs(size); ++i) {
    Value where =
        LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                            ArrayRef<LLVM::GEPArg>{first * bytes + i * layout.lanes * run});
    Value loaded = LLVM::LoadOp::create(b, VectorType::get({parts}, part), where, run);
    for (int j = 0; j < parts; ++j) {
      Value at = arith::ConstantOp::create(b, b.getI32IntegerAttr(j));
      elements.push_back(LLVM::ExtractElementOp::create(b, loaded, at));
    }
  }
  return elements;
}

void RowMemory::storeRow(const RowElements &elements, Value tensor, ValueRange indices, int first,
                         int size, const RowLayout &layout, Value laneInRow) {
  auto &b = builder_;
  Type element = arguments_.at(tensor).type.getElementType();
  int bytes = bytesOf(element), run = layout.chunk * bytes;
  Value base = offset(address(tensor, indices), laneOffset(laneInRow, run));
  Type part = isFp8(element) ? b.getI32Type() : element;
  int parts = run / bytesOf(part);
  for (int i = 0; i < layout.runs(size); ++i) {
    Value packed = LLVM::PoisonOp::create(b, VectorType::get({parts}, part));
    for (int j = 0; j < parts; ++j) {
      Value at = arith::ConstantOp::create(b, b.getI32IntegerAttr(j));
      packed = LLVM::InsertElementOp::create(b, packed, elements[i * parts + j], at);
    }
    Value where =
        LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                            ArrayRef<LLVM::GEPArg>{first * bytes + i * layout.lanes * run});
    LLVM::StoreOp::create(b, packed, where, run);
  }
}

void RowMemory::accumulate(tile::Combiner combiner, Value value, Value tensor, ValueRange indices) {
  auto &b = builder_;
  if (value.getType().isF32())
    value = arith::BitcastOp::create(b, b.getI32Type(), value);
  if (arguments_.at(tensor).type.getElementType().isInteger(64))
    value = arith::ExtUIOp::create(b, b.getI64Type(), value);
  LLVM::AtomicRMWOp::create(
      b, combiner == tile::Combiner::Add ? LLVM::AtomicBinOp::add : LLVM::AtomicBinOp::umax,
      address(tensor, indices), value, LLVM::AtomicOrdering::monotonic, "agent");
}

} // namespace wavesmith::compiler
