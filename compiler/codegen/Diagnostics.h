#pragma once
// Errors of the code generator. Inside the compiler they travel as llvm::Error carrying a
// StatusCode; this is the one place where they become a Status, and where LLVM's and MLIR's own
// diagnostics become text instead of lines on stderr. Thread-safe as long as each thread has its
// own LLVMContext and MLIRContext.

#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <llvm/Support/Error.h>

#include "runtime/support/Status.h"

namespace llvm {
class LLVMContext;
}

namespace wavesmith::compiler {

class CodegenError : public llvm::ErrorInfo<CodegenError> {
public:
  static char ID; // NOLINT(readability-identifier-naming): the name that llvm::ErrorInfo asks for

  CodegenError(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  StatusCode code() const { return code_; }
  const std::string &text() const { return message_; }
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  StatusCode code_;
  std::string message_;
};

template <typename... Args>
llvm::Error codegenError(StatusCode code, fmt::format_string<Args...> format, Args &&...args) {
  return llvm::make_error<CodegenError>(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Every error of the list in one message; errors that are not ours count as CompileFailed.
Status toStatus(llvm::Error error);
/// The same error with `context: ` in front of its text.
llvm::Error withContext(llvm::Error error, std::string_view context);

template <typename T> Expected<T> toExpected(llvm::Expected<T> value) {
  if (!value)
    return toStatus(value.takeError());
  return std::move(*value);
}

/// While alive, what LLVM would print about `context` is collected here.
class LlvmDiagnostics {
public:
  explicit LlvmDiagnostics(llvm::LLVMContext &context);
  ~LlvmDiagnostics();
  LlvmDiagnostics(const LlvmDiagnostics &) = delete;
  LlvmDiagnostics &operator=(const LlvmDiagnostics &) = delete;

  bool hasErrors() const { return !errors_.empty(); }
  /// Errors, one a line; "" when there are none.
  std::string errors() const;
  const std::vector<std::string> &warnings() const { return warnings_; }

private:
  struct Handler;
  llvm::LLVMContext &context_;
  std::vector<std::string> errors_, warnings_;
};

} // namespace wavesmith::compiler
