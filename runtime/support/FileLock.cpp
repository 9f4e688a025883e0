#include "runtime/support/FileLock.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

/// 0, or the errno of the refusal.
int tryLock(int fd) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

/// The holder removes the file while it lets go, so what we locked may no longer be the lock.
bool stillNamed(const Directory &directory, const std::string &name, int fd) {
  struct ::stat ours{}, named{};
  return ::fstat(fd, &ours) == 0 &&
         ::fstatat(directory.descriptor(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

std::string holderText() {
  std::array<char, 65> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {} since {}", ::getpid(), host.data(), std::time(nullptr));
}

void writeHolder(int fd) {
  const std::string text = holderText();
  // Only for people: a lock without the text is still a lock.
  if (::ftruncate(fd, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(fd, text.data(), text.size(), 0);
}

std::string readHolder(int fd) {
  std::array<char, 200> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  if (got <= 0)
    return "an unknown process";
  std::string holder(text.data(), static_cast<std::size_t>(got));
  std::replace_if(holder.begin(), holder.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return holder;
}

} // namespace

Expected<FileLock> FileLock::acquire(const Directory &directory, const std::string &name,
                                     std::chrono::milliseconds deadline,
                                     std::chrono::milliseconds noticeAfter) {
  const std::string path = directory.path() + "/" + name;
  const auto start = std::chrono::steady_clock::now(), end = start + deadline;
  auto pause = std::chrono::milliseconds(1);
  bool waited = false, noticed = false;
  while (true) {
    FileDescriptor fd(::openat(directory.descriptor(), name.c_str(),
                               O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!fd && errno != EINTR && errno != ESTALE)
      return systemError(errno, "open lock", path);
    while (fd) {
      const int refusal = tryLock(fd.get());
      if (refusal == 0) {
        if (!stillNamed(directory, name, fd.get()))
          break; // somebody else's lock by now: open the new file
        writeHolder(fd.get());
        return FileLock(directory, name, std::move(fd), waited);
      }
      if (refusal != EAGAIN && refusal != EACCES && refusal != EINTR)
        return error(StatusCode::Unsupported, "lock {}: {}", path,
                     systemError(refusal, "fcntl", path).message());
      waited = true;
      const auto now = std::chrono::steady_clock::now();
      if (now >= end)
        return error(StatusCode::Timeout, "lock {} is held by {}; gave up after {} ms", path,
                     readHolder(fd.get()), deadline.count());
      if (!noticed && now - start >= noticeAfter) {
        noticed = true;
        log::warn("lock", "waiting for {}, at most {} ms more path={}", readHolder(fd.get()),
                  std::chrono::ceil<std::chrono::milliseconds>(end - now).count(), path);
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(20));
    }
    if (std::chrono::steady_clock::now() >= end)
      return error(StatusCode::Timeout, "lock {} changes hands; gave up after {} ms", path,
                   deadline.count());
  }
}

FileLock::FileLock(FileLock &&other) noexcept = default;

FileLock &FileLock::operator=(FileLock &&other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(name_, other.name_);
  std::swap(fd_, other.fd_);
  std::swap(waited_, other.waited_);
  return *this;
}

FileLock::~FileLock() {
  // Removed while still held: whoever locks the nameless file notices and opens the new one.
  if (fd_)
    ::unlinkat(directory_->descriptor(), name_.c_str(), 0);
}

} // namespace wavesmith
