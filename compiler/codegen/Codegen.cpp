#include "compiler/codegen/Codegen.h"

#include <chrono>
#include <memory>
#include <ratio>
#include <string>
#include <system_error>
#include <utility>

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/codegen/AcceptanceGate.h"
#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/Linker.h"
#include "compiler/codegen/NoteSection.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "compiler/codegen/Reproducer.h"
#include "compiler/codegen/ResourceGates.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

class Stopwatch {
public:
  /// Milliseconds since the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> elapsed = now - last_;
    last_ = now;
    return elapsed.count();
  }

private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

llvm::Error writeDump(const CodegenOptions &options, const std::string &name,
                      llvm::StringRef content) {
  if (std::error_code code = llvm::sys::fs::create_directories(options.dumpDirectory))
    return codegenError(StatusCode::Io, "cannot make {}: {}", options.dumpDirectory,
                        code.message());
  const std::string path = options.dumpDirectory + "/" + name;
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << content;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return codegenError(StatusCode::Io, "cannot write {}: {}", path, code.message());
  return llvm::Error::success();
}

std::string kernelName(const llvm::Module &module, const CodegenOptions &options) {
  if (!options.kernel.empty())
    return options.kernel;
  for (const llvm::Function &function : module)
    if (function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL && !function.isDeclaration())
      return function.getName().str();
  return "kernel";
}

/// Emission consumes the module, so the text and an assembled copy are written before it.
llvm::Error dumpModule(const llvm::Module &module, llvm::TargetMachine &machine,
                       const std::string &kernel, const CodegenOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  if (llvm::Error error = writeDump(options, kernel + ".ll", text))
    return error;
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  auto assembly = emitAssembly(*copy, machine);
  if (!assembly)
    return assembly.takeError();
  return writeDump(options, kernel + ".s", *assembly);
}

llvm::Error runGates(ObjectResult &result, const std::string &judged,
                     const CodegenOptions &options) {
  auto kernels = readResources(result.bytes);
  if (!kernels)
    return kernels.takeError();
  result.kernels = std::move(*kernels);
  llvm::Error error = checkResources(result.kernels, options.resources);
  for (const KernelResources &kernel : result.kernels) {
    auto report =
        inspectLoops(result.bytes, kernel.name, options.loops.value_or(LoopExpectation{}));
    if (!report)
      return llvm::joinErrors(std::move(error), report.takeError());
    if (!options.loops || kernel.name != judged)
      report->violations.clear();
    error = llvm::joinErrors(std::move(error), toError(*report));
    result.loops.push_back(std::move(*report));
  }
  return error;
}

llvm::Expected<ObjectResult> generate(llvm::Module &module, const CodegenOptions &options,
                                      ObjectResult result) {
  Stopwatch watch;
  auto machine = makeTargetMachine(options.emit);
  if (!machine)
    return machine.takeError();
  if (!options.note.empty())
    if (llvm::Error error = embedNote(module, options.note))
      return error;
  if (llvm::Error error = prepareModule(module, **machine, options.emit))
    return error;
  result.times.prepare = watch.lap();
  const std::string kernel = kernelName(module, options);
  if (!module.getFunction(kernel))
    return codegenError(StatusCode::NotFound, "the module has no kernel '{}'", kernel);
  if (!options.dumpDirectory.empty())
    if (llvm::Error error = dumpModule(module, **machine, kernel, options))
      return error;
  watch.lap(); // dumps are no stage
  auto object = emitObject(module, **machine);
  if (!object)
    return object.takeError();
  result.times.emit = watch.lap();
  auto linked = linkCodeObject(*object);
  if (!linked)
    return linked.takeError();
  result.bytes = std::move(*linked);
  result.times.link = watch.lap();
  if (!options.dumpDirectory.empty())
    if (llvm::Error error =
            writeDump(options, kernel + ".co", {result.bytes.data(), result.bytes.size()}))
      return error;
  watch.lap();
  if (llvm::Error error = runGates(result, kernel, options))
    return error;
  result.times.gates = watch.lap();
  return result;
}

llvm::Expected<ObjectResult> translateAndGenerate(mlir::ModuleOp module,
                                                  const CodegenOptions &options) {
  Stopwatch watch;
  llvm::LLVMContext context;
  auto translated = translateToLlvmIr(module, context);
  if (!translated)
    return translated.takeError();
  ObjectResult result;
  result.times.translate = watch.lap();
  return generate(**translated, options, std::move(result));
}

} // namespace

llvm::Expected<ObjectResult> generateObject(mlir::ModuleOp module, const CodegenOptions &options) {
  auto result = translateAndGenerate(module, options);
  if (result || !options.reproducer)
    return result;
  ReproducerOptions reproducer = *options.reproducer;
  if (reproducer.command.empty())
    reproducer.command = codegenReplayCommand(options.emit.target);
  return withReproducer(result.takeError(), module, reproducer);
}

llvm::Expected<ObjectResult> generateObjectFromIr(llvm::StringRef text, llvm::StringRef name,
                                                  const CodegenOptions &options) {
  Stopwatch watch;
  llvm::LLVMContext context;
  auto module = parseLlvmIr(text, name, context);
  if (!module)
    return module.takeError();
  ObjectResult result;
  result.times.translate = watch.lap();
  return generate(**module, options, std::move(result));
}

} // namespace wavesmith::compiler
