#pragma once
// LLVM+ROCDL module or LLVM IR -> relocatable AMDGPU object in memory. Everything that steers LLVM
// is a function attribute or an explicit argument; no command-line option of LLVM is touched, since
// those are global to every user of the library in the process. Diagnostics come back as errors,
// nothing is printed. Thread-safe: each call works on its own module and context.

#include <memory>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/DialectRegistry.h>

namespace wavesmith::compiler {

using ObjectBytes = llvm::SmallVector<char, 0>;

/// What runs on LLVM IR before code generation. Both give the same pipelined loops; -O2 and above
/// would vectorise the row sums into packed f32, which does not overlap the partner's MFMAs.
enum class IrPipeline { None, O1 };

struct EmitOptions {
  std::string target;   ///< "gfx942"
  std::string features; ///< as for -mattr; "" = xnack and sramecc "any"
  IrPipeline pipeline = IrPipeline::None;
  unsigned codeObjectVersion = 600; ///< 600 = v6, LLVM 22's default
};

/// Registers AMDGPU with LLVM, once per process.
void initialiseTarget();
/// The interfaces that translateToLlvmIr needs; add them when the context is made.
void registerTranslations(mlir::DialectRegistry &registry);

/// A target machine for `options`, or an error that names the unknown target.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const EmitOptions &options);

/// Module in the LLVM and ROCDL dialects -> verified LLVM IR.
llvm::Expected<std::unique_ptr<llvm::Module>> translateToLlvmIr(mlir::ModuleOp module,
                                                                llvm::LLVMContext &context);
/// Textual LLVM IR -> verified module. `name` leads the diagnostics.
llvm::Expected<std::unique_ptr<llvm::Module>>
parseLlvmIr(llvm::StringRef text, llvm::StringRef name, llvm::LLVMContext &context);

/// Sets triple, data layout and code object version, runs the IR pipeline; the module is then what
/// the emitters take.
llvm::Error prepareModule(llvm::Module &module, llvm::TargetMachine &machine,
                          const EmitOptions &options);
/// Prepared module -> relocatable ELF object. Consumes the module's content (it is lowered).
llvm::Expected<ObjectBytes> emitObject(llvm::Module &module, llvm::TargetMachine &machine);
/// Prepared module -> assembly text, for dumps.
llvm::Expected<std::string> emitAssembly(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace wavesmith::compiler
