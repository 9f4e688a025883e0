#include "compiler/codegen/ObjectEmitter.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/TargetParser.h>
#include <mlir/IR/Diagnostics.h>
#include <mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h>
#include <mlir/Target/LLVMIR/Export.h>

#include "compiler/codegen/Diagnostics.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

constexpr llvm::StringLiteral kTriple = "amdgcn-amd-amdhsa";
constexpr llvm::StringLiteral kVersionFlag = "amdhsa_code_object_version";

llvm::Error verify(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream))
    return llvm::Error::success();
  return codegenError(StatusCode::CompileFailed, "LLVM IR does not verify: {}",
                      llvm::StringRef(text).rtrim().str());
}

void runIrPipeline(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = false;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(module, modules);
}

llvm::Error emit(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                 ObjectBytes &out) {
  LlvmDiagnostics diagnostics(module.getContext());
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return codegenError(StatusCode::Internal, "{} cannot emit this kind of file",
                        machine.getTargetCPU().str());
  passes.run(module);
  if (diagnostics.hasErrors())
    return codegenError(StatusCode::CompileFailed, "LLVM refused the module: {}",
                        diagnostics.errors());
  return llvm::Error::success();
}

} // namespace

void initialiseTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUDisassembler();
  });
}

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerROCDLDialectTranslation(registry);
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const EmitOptions &options) {
  initialiseTarget();
  // LLVM itself would only warn on stderr and go on with a generic processor.
  if (llvm::AMDGPU::parseArchAMDGCN(options.target) == llvm::AMDGPU::GK_NONE)
    return codegenError(StatusCode::InvalidArgument,
                        "unknown target '{}': expected an AMDGPU processor such as gfx942",
                        options.target);
  const llvm::Triple triple(kTriple);
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return codegenError(StatusCode::Internal, "LLVM has no {} target: {}", kTriple.str(), message);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.target, options.features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return codegenError(StatusCode::Internal, "LLVM cannot make a machine for {}", options.target);
  return machine;
}

llvm::Expected<std::unique_ptr<llvm::Module>> translateToLlvmIr(mlir::ModuleOp module,
                                                                llvm::LLVMContext &context) {
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);
  std::string text;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      text += (text.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  LlvmDiagnostics diagnostics(context);
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(
      module, context, module.getName().value_or("kernel"), /*disableVerification=*/true);
  if (!result)
    return codegenError(StatusCode::CompileFailed, "cannot translate to LLVM IR: {}", text);
  if (llvm::Error error = verify(*result))
    return error;
  return result;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
parseLlvmIr(llvm::StringRef text, llvm::StringRef name, llvm::LLVMContext &context) {
  llvm::SMDiagnostic diagnostic;
  LlvmDiagnostics diagnostics(context);
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssembly(llvm::MemoryBufferRef(text, name), diagnostic, context);
  if (!module)
    return codegenError(StatusCode::CompileFailed, "{}:{}: {}", name.str(), diagnostic.getLineNo(),
                        diagnostic.getMessage().str());
  if (llvm::Error error = verify(*module))
    return withContext(std::move(error), std::string_view(name));
  return module;
}

llvm::Error prepareModule(llvm::Module &module, llvm::TargetMachine &machine,
                          const EmitOptions &options) {
  const llvm::Triple &triple = module.getTargetTriple();
  if (!triple.str().empty() && !triple.isAMDGCN())
    return codegenError(StatusCode::InvalidArgument, "module is for '{}', expected '{}'",
                        triple.str(), kTriple.str());
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (!module.getModuleFlag(kVersionFlag))
    module.addModuleFlag(llvm::Module::Error, kVersionFlag, options.codeObjectVersion);
  if (llvm::none_of(module, [](const llvm::Function &function) {
        return function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL &&
               !function.isDeclaration();
      }))
    return codegenError(StatusCode::InvalidArgument,
                        "module defines no kernel (a function with the amdgpu_kernel convention)");
  // The intrinsics' signatures depend on the data layout; emission itself verifies nothing.
  if (llvm::Error error = verify(module))
    return error;
  LlvmDiagnostics diagnostics(module.getContext());
  if (options.pipeline == IrPipeline::O1)
    runIrPipeline(module, machine);
  if (diagnostics.hasErrors())
    return codegenError(StatusCode::CompileFailed, "LLVM refused the module: {}",
                        diagnostics.errors());
  return llvm::Error::success();
}

llvm::Expected<ObjectBytes> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  ObjectBytes bytes;
  if (llvm::Error error = emit(module, machine, llvm::CodeGenFileType::ObjectFile, bytes))
    return error;
  return bytes;
}

llvm::Expected<std::string> emitAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  ObjectBytes text;
  if (llvm::Error error = emit(module, machine, llvm::CodeGenFileType::AssemblyFile, text))
    return error;
  return std::string(text.begin(), text.end());
}

} // namespace wavesmith::compiler
