// wavesmith-opt: runs passes over templates and the IR between them, for tests and for reading.

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/DialectRegistry.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>
#include <mlir/Transforms/Passes.h>

#include "compiler/lowering/AttachAliasScopes.h"
#include "compiler/passes/Passes.h"
#include "dialects/tile/Tile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<wavesmith::tile::TileDialect, mlir::arith::ArithDialect, mlir::LLVM::LLVMDialect,
                  mlir::ROCDL::ROCDLDialect>();
  mlir::registerTransformsPasses();
  wavesmith::compiler::registerWavesmithPasses();
  wavesmith::compiler::registerAttachAliasScopesPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Wavesmith template and pass driver\n", registry));
}
