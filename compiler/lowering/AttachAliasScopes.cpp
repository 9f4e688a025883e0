#include "compiler/lowering/AttachAliasScopes.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>

namespace wavesmith::compiler {
namespace {

using namespace mlir;

constexpr unsigned kLdsAddressSpace = 3;

bool isLds(Value pointer) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
  return type && type.getAddressSpace() == kLdsAddressSpace;
}

struct AttachAliasScopes : public PassWrapper<AttachAliasScopes, OperationPass<LLVM::LLVMFuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AttachAliasScopes)

  StringRef getArgument() const override { return "attach-alias-scopes"; }
  StringRef getDescription() const override {
    return "Declare LDS reads and LDS DMA disjoint, so that LLVM inserts no wait between them";
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto domain = LLVM::AliasScopeDomainAttr::get(context, StringAttr::get(context, "lds"));
    auto scope = [&](StringRef name) {
      return ArrayAttr::get(context,
                            {LLVM::AliasScopeAttr::get(domain, StringAttr::get(context, name))});
    };
    ArrayAttr reads = scope("reads"), dma = scope("dma");
    getOperation().walk([&](Operation *op) {
      if (auto copy = dyn_cast<ROCDL::RawPtrBufferLoadLdsOp>(op)) {
        copy.setAliasScopesAttr(dma);
        copy.setNoaliasScopesAttr(reads);
      } else if (auto load = dyn_cast<LLVM::LoadOp>(op); load && isLds(load.getAddr())) {
        load.setAliasScopesAttr(reads);
      } else if (auto read = dyn_cast<ROCDL::ds_read_tr16_b64>(op)) {
        read.setAliasScopesAttr(reads);
      } else if (auto read = dyn_cast<ROCDL::ds_read_tr8_b64>(op)) {
        read.setAliasScopesAttr(reads);
      } else if (auto store = dyn_cast<LLVM::StoreOp>(op); store && isLds(store.getAddr())) {
        // Between barriers no wave reads what another stores, by construction of the loops.
        store.setNoaliasScopesAttr(reads);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> createAttachAliasScopesPass() {
  return std::make_unique<AttachAliasScopes>();
}

void registerAttachAliasScopesPass() { PassRegistration<AttachAliasScopes>(); }

} // namespace wavesmith::compiler
