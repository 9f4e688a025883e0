#pragma once
// Files that survive crashes: size-limited reads, atomic publishing (temporary name, fsync, rename,
// fsync of the directory), private directories held by descriptor. Transient network errors
// (ESTALE, EBUSY) are retried. Every error names the path. A Directory may be used by any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

inline constexpr std::uint64_t kDefaultReadLimit = std::uint64_t{1} << 32;

/// The whole file; a larger one than `limit` is ResourceExhausted, a missing one NotFound.
Expected<std::vector<std::byte>> readFile(const std::string &path,
                                          std::uint64_t limit = kDefaultReadLimit);
Expected<std::string> readTextFile(const std::string &path,
                                   std::uint64_t limit = kDefaultReadLimit);
/// Writes so that readers see the old file or the whole new one, also after a crash.
Status publishFile(const std::string &path, std::span<const std::byte> bytes);

/// The error of a failed system call: code from errno, "doing what path: reason".
Status systemError(int number, std::string_view action, std::string_view path);

/// Owns a file descriptor.
class FileDescriptor {
public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_;
};

struct FileEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t modifiedNs = 0; ///< since the epoch
  std::uint64_t inode = 0;
};

/// An open directory. Names are relative to it, so renaming a parent cannot redirect a write.
class Directory {
public:
  enum class Create { No, Yes };

  /// Opens, and with Create::Yes makes it (and missing parents) with mode 0700. Refuses a directory
  /// that another user may write: its contents could not be trusted.
  static Expected<Directory> openPrivate(const std::string &path, Create create);

  const std::string &path() const { return path_; }
  int descriptor() const { return fd_.get(); }

  Expected<std::vector<std::byte>> read(const std::string &name, std::uint64_t limit,
                                        FileEntry *entry = nullptr) const;
  /// Atomic and durable, mode 0600; the parts are written one after another.
  Status publish(const std::string &name, std::span<const std::span<const std::byte>> parts) const;
  Status rename(const std::string &from, const std::string &to) const;
  /// Ok when the file is gone, also when it never was.
  Status remove(const std::string &name) const;
  /// NotFound when there is none.
  Expected<FileEntry> stat(const std::string &name) const;
  /// Regular files, in no order.
  Expected<std::vector<FileEntry>> list() const;
  /// Sets the modification time to now: the mark of an LRU cache.
  Status touch(const std::string &name) const;

  /// Names that publish() uses while it writes; a killed process leaves them behind.
  static constexpr std::string_view kTemporaryPrefix = ".tmp-";

private:
  Directory(std::string path, FileDescriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string pathOf(const std::string &name) const { return path_ + "/" + name; }

  std::string path_;
  FileDescriptor fd_;
};

} // namespace wavesmith
