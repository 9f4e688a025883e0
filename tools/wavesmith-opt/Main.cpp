// wavesmith-opt: runs passes over templates and the IR between them, for tests and for reading.

#include <mlir/Conversion/Passes.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/ControlFlow/IR/ControlFlow.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/DialectRegistry.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>
#include <mlir/Transforms/Passes.h>

#include "compiler/lowering/AttachAliasScopes.h"
#include "compiler/passes/Passes.h"
#include "dialects/tile/Tile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<wavesmith::tile::TileDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect>();
  mlir::registerTransformsPasses();
  // What the pipeline of row kernels uses of upstream's conversions.
  mlir::registerSCFToControlFlowPass();
  mlir::registerConvertMathToLLVMPass();
  mlir::registerArithToLLVMConversionPass();
  mlir::registerConvertControlFlowToLLVMPass();
  mlir::registerReconcileUnrealizedCastsPass();
  wavesmith::compiler::registerWavesmithPasses();
  wavesmith::compiler::registerAttachAliasScopesPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Wavesmith template and pass driver\n", registry));
}
