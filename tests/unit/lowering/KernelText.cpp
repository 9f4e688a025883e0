#include "tests/unit/lowering/KernelText.h"

#include <cstring>

#include <fmt/format.h>

#include "compiler/codegen/Linker.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "compiler/lowering/EmitAttention.h"

namespace wavesmith::compiler::testing {

namespace {

constexpr const char *kTarget = "gfx942";

/// Both contexts outlive the module that is compiled in them.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

llvm::Error prepare(const KernelShape &shape, const Schedule &schedule, const std::string &name,
                    Compilation &compilation) {
  initialiseTarget();
  mlir::DialectRegistry registry;
  registerTranslations(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      emitAttention(shape, schedule, *findTarget(kTarget), name, context);
  if (!module || failed(mlir::verify(*module)))
    return llvm::createStringError(diagnostics);
  const EmitOptions options{.target = kTarget};
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  auto translated = translateToLlvmIr(*module, compilation.context);
  if (!translated)
    return translated.takeError();
  compilation.machine = std::move(*machine);
  compilation.module = std::move(*translated);
  return prepareModule(*compilation.module, *compilation.machine, options);
}

Produced failure(llvm::Error error) { return {.error = llvm::toString(std::move(error))}; }

} // namespace

std::string shapeName(const KernelShape &shape) {
  return fmt::format("d{}x{}{}{}{}", shape.headDimQk, shape.headDimV, shape.causal ? "_causal" : "",
                     shape.writeLse ? "_lse" : "", shape.splitKv ? "_split" : "");
}

Produced assembleKernel(const KernelShape &shape, const Schedule &schedule,
                        const std::string &name) {
  Compilation compilation;
  if (llvm::Error error = prepare(shape, schedule, name, compilation))
    return failure(std::move(error));
  auto text = emitAssembly(*compilation.module, *compilation.machine);
  if (!text)
    return failure(text.takeError());
  return {.text = std::move(*text)};
}

Produced buildKernel(const KernelShape &shape, const Schedule &schedule, const std::string &name) {
  Compilation compilation;
  if (llvm::Error error = prepare(shape, schedule, name, compilation))
    return failure(std::move(error));
  auto object = emitObject(*compilation.module, *compilation.machine);
  if (!object)
    return failure(object.takeError());
  auto linked = linkCodeObject(*object);
  if (!linked)
    return failure(linked.takeError());
  Produced produced;
  produced.bytes.resize(linked->size());
  std::memcpy(produced.bytes.data(), linked->data(), linked->size());
  return produced;
}

} // namespace wavesmith::compiler::testing
