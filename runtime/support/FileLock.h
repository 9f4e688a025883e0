#pragma once
// A lock between processes that the kernel releases when its holder dies (OFD lock on a small
// file), with a deadline and a text that names the holder. One owner; move-only.

#include <chrono>
#include <string>

#include "runtime/support/Files.h"
#include "runtime/support/Status.h"

namespace wavesmith {

class FileLock {
public:
  /// Waits until the lock is ours or the deadline has passed (Timeout, naming the holder).
  /// Unsupported where the file system has no locks: the caller goes on without. A wait longer
  /// than `noticeAfter` is said in the log, once, with the holder.
  static Expected<FileLock>
  acquire(const Directory &directory, const std::string &name, std::chrono::milliseconds deadline,
          std::chrono::milliseconds noticeAfter = std::chrono::seconds(2));
  FileLock(FileLock &&other) noexcept;
  FileLock &operator=(FileLock &&other) noexcept;
  /// Removes the lock's file and lets go.
  ~FileLock();

  /// Whether acquire had to wait for another holder.
  bool waited() const { return waited_; }

private:
  FileLock(const Directory &directory, std::string name, FileDescriptor fd, bool waited)
      : directory_(&directory), name_(std::move(name)), fd_(std::move(fd)), waited_(waited) {}

  const Directory *directory_;
  std::string name_;
  FileDescriptor fd_;
  bool waited_;
};

} // namespace wavesmith
