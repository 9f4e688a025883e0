#include "compiler/codegen/Diagnostics.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/support/Status.h"
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

namespace wavesmith::compiler {

char CodegenError::ID = 0;

void CodegenError::log(llvm::raw_ostream &stream) const { stream << message_; }

Status toStatus(llvm::Error error) {
  StatusCode code = StatusCode::Ok;
  std::string message;
  auto add = [&](StatusCode itsCode, const std::string &text) {
    if (code == StatusCode::Ok)
      code = itsCode;
    message += (message.empty() ? "" : "; ") + text;
  };
  llvm::handleAllErrors(
      std::move(error), [&](const CodegenError &ours) { add(ours.code(), ours.text()); },
      [&](const llvm::ErrorInfoBase &other) { add(StatusCode::CompileFailed, other.message()); });
  return code == StatusCode::Ok ? Status() : Status(code, std::move(message));
}

llvm::Error withContext(llvm::Error error, std::string_view context) {
  if (!error)
    return error;
  Status status = toStatus(std::move(error));
  return codegenError(status.code(), "{}: {}", context, status.message());
}

struct LlvmDiagnostics::Handler : llvm::DiagnosticHandler {
  explicit Handler(LlvmDiagnostics &owner) : owner(owner) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    if (info.getSeverity() == llvm::DS_Error)
      owner.errors_.push_back(std::move(text));
    else if (info.getSeverity() == llvm::DS_Warning)
      owner.warnings_.push_back(std::move(text));
    return true;
  }

  LlvmDiagnostics &owner;
};

LlvmDiagnostics::LlvmDiagnostics(llvm::LLVMContext &context) : context_(context) {
  context_.setDiagnosticHandler(std::make_unique<Handler>(*this), /*RespectFilters=*/true);
}

LlvmDiagnostics::~LlvmDiagnostics() {
  context_.setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
}

std::string LlvmDiagnostics::errors() const { return fmt::format("{}", fmt::join(errors_, "\n")); }

} // namespace wavesmith::compiler
