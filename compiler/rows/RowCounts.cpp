#include "compiler/rows/RowCounts.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Dialect/SCF/IR/SCF.h>

namespace wavesmith::compiler {

using namespace mlir;

namespace {

constexpr unsigned kLds = 3;
constexpr const char *kScope = "workgroup";

LLVM::GlobalOp createLds(ImplicitLocOpBuilder &b, int slots) {
  Operation *within = b.getInsertionBlock()->getParentOp();
  auto function = llvm::dyn_cast<LLVM::LLVMFuncOp>(within);
  if (!function)
    function = within->getParentOfType<LLVM::LLVMFuncOp>();
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(function);
  const auto before = llvm::range_size(module.getOps<LLVM::GlobalOp>());
  Type type = LLVM::LLVMArrayType::get(b.getI32Type(), static_cast<unsigned>(slots));
  auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                       (function.getName() + ".counts" + llvm::Twine(before)).str(),
                                       Attribute(),
                                       /*alignment=*/16, kLds);
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, LLVM::PoisonOp::create(b, type).getResult());
  return global;
}

} // namespace

RowCounts RowCounts::begin(ImplicitLocOpBuilder &b, tile::CountOp op, Value thread, int threads) {
  RowCounts counts(b, op, thread, threads);
  counts.classes_ = static_cast<int>(
      op.getTensor().getType().getDim(op.getTensor().getType().getShape().size() - 1));
  LLVM::GlobalOp global = createLds(b, counts.classes_ + 1);
  counts.lds_ = LLVM::AddressOfOp::create(b, global);
  auto clear =
      scf::ForOp::create(b, thread, counts.constant(counts.classes_ + 1), counts.constant(threads));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(clear.getBody());
    LLVM::StoreOp::create(b, counts.constant(0), counts.slot(clear.getInductionVar()), 4);
  }
  counts.barrier();
  return counts;
}

void RowCounts::add(const RowElements &classes) {
  auto &b = builder_;
  for (Value element : classes) {
    // Negative ones are large as unsigned numbers.
    Value index = arith::MinUIOp::create(b, element, constant(classes_));
    LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, slot(index), constant(1),
                              LLVM::AtomicOrdering::monotonic, kScope);
  }
}

void RowCounts::end(RowMemory &memory, ValueRange indices) {
  auto &b = builder_;
  barrier();
  auto flush = scf::ForOp::create(b, thread_, constant(classes_), constant(threads_));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(flush.getBody());
  Value count = LLVM::LoadOp::create(b, b.getI32Type(), slot(flush.getInductionVar()), 4);
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, count, constant(0));
  auto branch = scf::IfOp::create(b, some, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> all(indices);
  all.push_back(flush.getInductionVar());
  memory.accumulate(tile::Combiner::Add, count, op_.getTensor(), all);
}

Value RowCounts::constant(int value) {
  return arith::ConstantOp::create(builder_, builder_.getI32IntegerAttr(value));
}

Value RowCounts::slot(Value index) {
  return LLVM::GEPOp::create(builder_, lds_.getType(), builder_.getI32Type(), lds_,
                             ArrayRef<LLVM::GEPArg>{index});
}

void RowCounts::barrier() {
  auto &b = builder_;
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::release, kScope);
  ROCDL::SBarrierOp::create(b);
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acquire, kScope);
}

} // namespace wavesmith::compiler
