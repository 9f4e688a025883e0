#pragma once
// What a failed compile leaves behind: the module as it was before the failing step, headed by the
// error and by the command that replays it. Thread-safe: every file has its own name.

#include <string>

#include <llvm/Support/Error.h>
#include <mlir/IR/BuiltinOps.h>

namespace wavesmith::compiler {

struct ReproducerOptions {
  std::string directory;       ///< made if need be; "" = the temporary directory
  std::string name = "kernel"; ///< leads the file's name
  /// Shell line that replays the failure; every "{file}" in it becomes the reproducer's path.
  std::string command;
};

/// Replays translation and code generation with LLVM's own tools.
std::string codegenReplayCommand(llvm::StringRef target);

/// Writes the reproducer and returns its path.
llvm::Expected<std::string> writeReproducer(llvm::StringRef module, llvm::StringRef error,
                                            const ReproducerOptions &options);
/// The same error, followed by the reproducer's path or by why there is none.
llvm::Error withReproducer(llvm::Error error, llvm::StringRef module,
                           const ReproducerOptions &options);
llvm::Error withReproducer(llvm::Error error, mlir::ModuleOp module,
                           const ReproducerOptions &options);

} // namespace wavesmith::compiler
