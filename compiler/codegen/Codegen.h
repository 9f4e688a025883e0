#pragma once
// The back half of a compile in one call: LLVM+ROCDL module -> LLVM IR -> object -> linked code
// object with our note -> resource and acceptance gates. Thread-safe: each call has its own
// LLVMContext; only the link is serialised.

#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/AcceptanceGate.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "compiler/codegen/Reproducer.h"
#include "compiler/codegen/ResourceGates.h"

namespace wavesmith::compiler {

struct CodegenOptions {
  EmitOptions emit;
  std::string kernel; ///< whose loops are judged and whose name dumps get; "" = the first kernel
  std::string note;   ///< JSON for the object's note; "" = none
  ResourceLimits resources;
  std::optional<LoopExpectation> loops; ///< none: loops are reported and not judged
  std::string dumpDirectory;            ///< <kernel>.ll, .s and .co go there; "" = no dump
  /// Where a failure leaves its module; none: nowhere. An empty command becomes the usual one.
  std::optional<ReproducerOptions> reproducer;
};

/// Wall time of each stage in milliseconds.
struct StageTimes {
  double translate = 0; ///< MLIR to LLVM IR, or parsing LLVM IR
  double prepare = 0;   ///< verification and the IR pipeline
  double emit = 0;
  double link = 0; ///< waiting for other threads' links included
  double gates = 0;
  double total() const { return translate + prepare + emit + link + gates; }
};

struct ObjectResult {
  ObjectBytes bytes; ///< linked code object
  std::vector<KernelResources> kernels;
  std::vector<GateReport> loops; ///< one a kernel, same order
  StageTimes times;
};

/// `module` stays as it is.
llvm::Expected<ObjectResult> generateObject(mlir::ModuleOp module, const CodegenOptions &options);
/// The same from textual LLVM IR; `name` leads the diagnostics.
llvm::Expected<ObjectResult> generateObjectFromIr(llvm::StringRef text, llvm::StringRef name,
                                                  const CodegenOptions &options);

} // namespace wavesmith::compiler
