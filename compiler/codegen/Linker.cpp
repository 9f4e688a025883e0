#include "compiler/codegen/Linker.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdlib.h>
#include <string>
#include <system_error>
#include <utility>

#include <lld/Common/Driver.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/ObjectEmitter.h"
#include "runtime/support/Status.h"

LLD_HAS_DRIVER(elf)

namespace wavesmith::compiler {
namespace {

class PrivateDirectory {
public:
  static llvm::Expected<PrivateDirectory> make() {
    llvm::SmallString<128> root;
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, root);
    std::string path = (root + "/wavesmith-link-XXXXXX").str();
    if (!::mkdtemp(path.data())) // mode 0700
      return codegenError(StatusCode::Io, "cannot make a directory like {}: {}", path,
                          std::strerror(errno));
    return PrivateDirectory(std::move(path));
  }
  PrivateDirectory(PrivateDirectory &&other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  PrivateDirectory &operator=(PrivateDirectory &&) = delete;
  ~PrivateDirectory() {
    if (path_.empty())
      return;
    // Nobody is left to tell when this fails.
    [[maybe_unused]] const std::error_code ignored = llvm::sys::fs::remove_directories(path_);
  }
  std::string file(llvm::StringRef name) const { return path_ + "/" + name.str(); }

private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

llvm::Error writeFile(const std::string &path, llvm::ArrayRef<char> bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code, llvm::sys::fs::CD_CreateNew);
  if (!code) {
    stream.write(bytes.data(), bytes.size());
    stream.close();
    code = stream.error();
    stream.clear_error(); // the stream aborts the process on an error that nobody took
  }
  if (code)
    return codegenError(StatusCode::Io, "cannot write {}: {}", path, code.message());
  return llvm::Error::success();
}

llvm::Error runLld(const std::string &input, const std::string &output) {
  static std::mutex mutex;
  static bool usable = true;
  const std::lock_guard lock(mutex);
  if (!usable)
    return codegenError(StatusCode::Internal,
                        "lld crashed earlier in this process and cannot run again");
  std::string text;
  llvm::raw_string_ostream stream(text);
  const char *arguments[] = {"ld.lld",      "-shared", "--threads=1", "--no-undefined",
                             input.c_str(), "-o",      output.c_str()};
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0)
    return codegenError(StatusCode::CompileFailed, "lld failed: {}",
                        llvm::StringRef(text).rtrim().str());
  return llvm::Error::success();
}

} // namespace

llvm::Expected<ObjectBytes> linkCodeObject(llvm::ArrayRef<char> object) {
  auto directory = PrivateDirectory::make();
  if (!directory)
    return directory.takeError();
  const std::string input = directory->file("kernel.o"), output = directory->file("kernel.co");
  if (llvm::Error error = writeFile(input, object))
    return error;
  if (llvm::Error error = runLld(input, output))
    return error;
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return codegenError(StatusCode::Io, "cannot read {}: {}", output, buffer.getError().message());
  return ObjectBytes((*buffer)->getBuffer().begin(), (*buffer)->getBuffer().end());
}

} // namespace wavesmith::compiler
