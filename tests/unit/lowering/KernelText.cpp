#include "tests/unit/lowering/KernelText.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>

#include "compiler/lowering/EmitAttention.h"

namespace wavesmith::compiler::testing {

namespace {

Produced failure(std::string text) { return {.error = std::move(text)}; }

/// A directory that lives as long as the process.
const std::string &scratch() {
  static const std::string directory = [] {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createUniqueDirectory("wavesmith-lowering", path))
      return std::string(".");
    std::atexit([] { llvm::sys::fs::remove_directories(scratch()); });
    return std::string(path);
  }();
  return directory;
}

Produced run(const std::string &command) {
  const std::string log = scratch() + "/log";
  if (std::system(fmt::format("{} > {} 2>&1", command, log).c_str()) == 0)
    return {};
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  return failure(command + ": " + text.str());
}

} // namespace

std::string shapeName(const KernelShape &shape) {
  return fmt::format("d{}x{}{}{}{}", shape.headDimQk, shape.headDimV, shape.causal ? "_causal" : "",
                     shape.writeLse ? "_lse" : "", shape.splitKv ? "_split" : "");
}

Produced emitLlvmIr(const KernelShape &shape, const Schedule &schedule, const std::string &name) {
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
  mlir::MLIRContext context(registry);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return mlir::success();
  });
  const TargetFacts *target = findTarget("gfx942");
  mlir::OwningOpRef<mlir::ModuleOp> module = emitAttention(shape, schedule, *target, name, context);
  if (!module)
    return failure(diagnostics);
  if (failed(mlir::verify(*module)))
    return failure(diagnostics);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> translated =
      mlir::translateModuleToLLVMIR(module.get(), llvmContext);
  if (!translated)
    return failure("translation failed: " + diagnostics);
  translated->setTargetTriple(llvm::Triple("amdgcn-amd-amdhsa"));
  Produced result;
  llvm::raw_string_ostream problems(result.error);
  if (llvm::verifyModule(*translated, &problems))
    return result;
  llvm::raw_string_ostream text(result.text);
  translated->print(text, nullptr);
  return result;
}

Produced assembleText(const std::string &llvmIr) {
  const std::string source = scratch() + "/kernel.ll", output = scratch() + "/kernel.s";
  std::ofstream(source) << llvmIr;
  Produced ran =
      run(fmt::format("{}/llc -O3 -mcpu=gfx942 {} -o {}", WAVESMITH_LLVM_TOOLS, source, output));
  std::stringstream text;
  text << std::ifstream(output).rdbuf();
  return {.text = text.str(), .error = ran.error};
}

Produced linkObject(const std::string &llvmIr, const std::string &name) {
  const std::string base = scratch() + "/" + name;
  std::ofstream(base + ".ll") << llvmIr;
  Produced ran = run(fmt::format("{0}/llc -O3 -mcpu=gfx942 -filetype=obj {1}.ll -o {1}.o && "
                                 "{0}/ld.lld -shared {1}.o -o {1}.co",
                                 WAVESMITH_LLVM_TOOLS, base));
  return {.text = base + ".co", .error = ran.error};
}

} // namespace wavesmith::compiler::testing
