#include "compiler/codegen/Reproducer.h"

#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/Diagnostics.h"
#include "runtime/support/Status.h"

namespace wavesmith::compiler {
namespace {

std::string replaceFile(llvm::StringRef command, llvm::StringRef path) {
  std::string result;
  for (size_t at; (at = command.find("{file}")) != llvm::StringRef::npos;
       command = command.drop_front(at + 6))
    result += command.take_front(at).str() + path.str();
  return result + command.str();
}

} // namespace

std::string codegenReplayCommand(llvm::StringRef target) {
  return fmt::format(
      "mlir-translate --mlir-to-llvmir {{file}} | llc -O3 -mtriple=amdgcn-amd-amdhsa "
      "-mcpu={} -filetype=obj -o /dev/null",
      target.str());
}

llvm::Expected<std::string> writeReproducer(llvm::StringRef module, llvm::StringRef error,
                                            const ReproducerOptions &options) {
  llvm::SmallString<128> directory(options.directory);
  if (directory.empty())
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, directory);
  if (std::error_code code = llvm::sys::fs::create_directories(directory))
    return codegenError(StatusCode::Io, "cannot make {}: {}", directory.c_str(), code.message());
  // %% stands for a random digit; the file is created exclusively.
  const std::string model = fmt::format("{}/{}-%%%%%%%%.mlir", directory.c_str(), options.name);
  int descriptor = -1;
  llvm::SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createUniqueFile(model, descriptor, path))
    return codegenError(StatusCode::Io, "cannot create {}: {}", model, code.message());
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  llvm::SmallVector<llvm::StringRef> lines;
  error.split(lines, '\n');
  for (const llvm::StringRef line : lines)
    stream << "// error: " << line << "\n";
  if (!options.command.empty())
    stream << "// replay: " << replaceFile(options.command, path) << "\n";
  stream << module << "\n";
  stream.close();
  const std::error_code failure = stream.error();
  stream.clear_error(); // the stream aborts the process on an error that nobody took
  if (failure)
    return codegenError(StatusCode::Io, "cannot write {}: {}", path.c_str(), failure.message());
  return std::string(path.str());
}

llvm::Error withReproducer(llvm::Error error, llvm::StringRef module,
                           const ReproducerOptions &options) {
  if (!error)
    return error;
  const Status status = toStatus(std::move(error));
  auto path = writeReproducer(module, status.message(), options);
  if (!path)
    return codegenError(status.code(), "{} (no reproducer: {})", status.message(),
                        toStatus(path.takeError()).message());
  return codegenError(status.code(), "{} (reproducer: {})", status.message(), *path);
}

llvm::Error withReproducer(llvm::Error error, mlir::ModuleOp module,
                           const ReproducerOptions &options) {
  if (!error)
    return error;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return withReproducer(std::move(error), text, options);
}

} // namespace wavesmith::compiler
