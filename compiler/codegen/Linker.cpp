#include "compiler/codegen/Linker.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdlib.h>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

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

/// A file without a name: whatever ends this process, nothing is left on disk. Null where the
/// system has no such files, or no /proc to reach them by a path.
class AnonymousFile {
public:
  static std::optional<AnonymousFile> make(llvm::ArrayRef<char> bytes) {
    AnonymousFile file(::memfd_create("wavesmith-link", MFD_CLOEXEC));
    if (file.descriptor_ < 0 || ::access(file.path().c_str(), R_OK) != 0)
      return std::nullopt;
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return std::nullopt;
      bytes = bytes.drop_front(static_cast<std::size_t>(count));
    }
    return file;
  }
  AnonymousFile(AnonymousFile &&other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  AnonymousFile &operator=(AnonymousFile &&) = delete;
  ~AnonymousFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  explicit AnonymousFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// Collects what is written to path(). A pipe, since lld makes a temporary file beside any regular
/// output, and nothing can be made in /proc.
class PipeReader {
public:
  static std::unique_ptr<PipeReader> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return nullptr;
    return std::unique_ptr<PipeReader>(new PipeReader(ends[0], ends[1]));
  }
  PipeReader(const PipeReader &) = delete;
  PipeReader &operator=(const PipeReader &) = delete;
  ~PipeReader() {
    if (thread_.joinable())
      finish();
    ::close(readEnd_);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(writeEnd_); }
  /// Everything, once all writers are done.
  ObjectBytes finish() {
    ::close(writeEnd_);
    thread_.join();
    return std::move(bytes_);
  }

private:
  PipeReader(int readEnd, int writeEnd)
      : readEnd_(readEnd), writeEnd_(writeEnd), thread_([this] { readAll(); }) {}
  void readAll() {
    std::array<char, 1 << 16> part;
    while (true) {
      const ssize_t count = ::read(readEnd_, part.data(), part.size());
      if (count > 0)
        bytes_.append(part.begin(), part.begin() + count);
      else if (count == 0 || errno != EINTR)
        return;
    }
  }
  int readEnd_, writeEnd_;
  ObjectBytes bytes_;
  std::thread thread_; ///< last: it uses the others
};

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

namespace {

llvm::Expected<ObjectBytes> linkInDirectory(llvm::ArrayRef<char> object) {
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

} // namespace

llvm::Expected<ObjectBytes> linkCodeObject(llvm::ArrayRef<char> object, LinkFiles files) {
  if (files == LinkFiles::InDirectory)
    return linkInDirectory(object);
  const auto input = AnonymousFile::make(object);
  const auto output = input ? PipeReader::make() : nullptr;
  if (!output)
    return linkInDirectory(object);
  if (llvm::Error error = runLld(input->path(), output->path()))
    return error;
  return output->finish();
}

} // namespace wavesmith::compiler
