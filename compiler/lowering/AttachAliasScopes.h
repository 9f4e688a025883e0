#pragma once
// Pass `attach-alias-scopes`: tells LLVM that LDS reads and LDS DMA never meet. The waits for DMA
// stand before the barriers that publish it; without the scopes LLVM would wait before every read.
// Runs on llvm.func after all conversions, since several of those drop such attributes.

#include <memory>

#include <mlir/Pass/Pass.h>

namespace wavesmith::compiler {

std::unique_ptr<mlir::Pass> createAttachAliasScopesPass();
void registerAttachAliasScopesPass();

} // namespace wavesmith::compiler
