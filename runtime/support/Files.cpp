#include "runtime/support/Files.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wavesmith {
namespace {

// NFS reports a file that another host replaced as ESTALE, and a busy one as EBUSY; both pass.
template <typename Call> auto retrying(Call call) {
  for (int attempt = 0;; ++attempt) {
    auto result = call();
    if (result >= 0 || attempt == 5)
      return result;
    if (errno == ESTALE || errno == EBUSY)
      std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
    else if (errno != EINTR)
      return result;
  }
}

Expected<std::vector<std::byte>> readDescriptor(int fd, const std::string &path,
                                                std::uint64_t limit, FileEntry *entry) {
  struct ::stat info{};
  if (::fstat(fd, &info) != 0)
    return systemError(errno, "stat", path);
  if (S_ISDIR(info.st_mode))
    return error(StatusCode::InvalidArgument, "read {}: is a directory, not a file", path);
  if (static_cast<std::uint64_t>(info.st_size) > limit)
    return error(StatusCode::ResourceExhausted, "read {}: {} bytes, at most {} are accepted", path,
                 info.st_size, limit);
  if (entry) {
    entry->bytes = static_cast<std::uint64_t>(info.st_size);
    entry->modifiedNs = info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
    entry->inode = info.st_ino;
  }
  // One byte more than the size: a pipe or /proc has none, and a growing file must hit the limit.
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.st_size) + 1);
  std::size_t used = 0;
  while (true) {
    if (used == bytes.size())
      bytes.resize(bytes.size() * 2);
    const ssize_t got =
        retrying([&] { return ::read(fd, bytes.data() + used, bytes.size() - used); });
    if (got < 0)
      return systemError(errno, "read", path);
    if (got == 0)
      break;
    used += static_cast<std::size_t>(got);
    if (used > limit)
      return error(StatusCode::ResourceExhausted, "read {}: more than {} bytes", path, limit);
  }
  bytes.resize(used);
  return bytes;
}

Status writeAll(int fd, std::span<const std::byte> bytes, const std::string &path) {
  while (!bytes.empty()) {
    const ssize_t put = retrying([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (put < 0)
      return systemError(errno, "write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return Status::ok();
}

// Some file systems have no fsync (EINVAL); what they promise without it is all there is.
Status sync(int fd, const std::string &path) {
  if (retrying([&] { return ::fsync(fd); }) != 0 && errno != EINVAL && errno != ENOSYS)
    return systemError(errno, "fsync", path);
  return Status::ok();
}

// Random, not the process id: containers that share a volume share process ids too.
std::string temporaryName() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    random =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return fmt::format("{}{}-{:016x}", Directory::kTemporaryPrefix, ::getpid(), random);
}

Status publishAt(int directory, const std::string &directoryPath, const std::string &name,
                 std::span<const std::span<const std::byte>> parts, mode_t mode) {
  const std::string temporary = temporaryName();
  const std::string path = directoryPath + "/" + name;
  FileDescriptor file(retrying([&] {
    return ::openat(directory, temporary.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  }));
  if (!file)
    return systemError(errno, "create", directoryPath + "/" + temporary);
  Status status;
  for (std::span<const std::byte> part : parts)
    if (status.isOk())
      status = writeAll(file.get(), part, path);
  if (status.isOk())
    status = sync(file.get(), path);
  if (status.isOk() && retrying([&] {
                         return ::renameat(directory, temporary.c_str(), directory, name.c_str());
                       }) != 0)
    status = systemError(errno, "rename to", path);
  if (!status.isOk()) {
    ::unlinkat(directory, temporary.c_str(), 0);
    return status;
  }
  return sync(directory, directoryPath);
}

FileEntry entryOf(std::string name, const struct ::stat &info) {
  return {std::move(name), static_cast<std::uint64_t>(info.st_size),
          info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec, info.st_ino};
}

// Missing parents get 0700 as well, as the XDG specification asks.
Status makeDirectories(const std::string &path) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (at != std::string::npos)
      ++at;
    if (::mkdir(part.c_str(), 0700) == 0 || errno == EEXIST)
      continue;
    const int number = errno;
    struct ::stat info{};
    // A read-only file system answers EROFS for directories that exist.
    if (::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
      return systemError(number, "create directory", part);
  }
  return Status::ok();
}

} // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0)
    ::close(fd_);
}

Status systemError(int number, std::string_view action, std::string_view path) {
  StatusCode code = StatusCode::Io;
  if (number == ENOENT || number == ENOTDIR)
    code = StatusCode::NotFound;
  else if (number == ENOSPC || number == EDQUOT || number == ENOMEM || number == EMFILE)
    code = StatusCode::ResourceExhausted;
  return error(code, "{} {}: {}", action, path, std::generic_category().message(number));
}

Expected<std::vector<std::byte>> readFile(const std::string &path, std::uint64_t limit) {
  const FileDescriptor file(retrying([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file)
    return systemError(errno, "open", path);
  return readDescriptor(file.get(), path, limit, nullptr);
}

Expected<std::string> readTextFile(const std::string &path, std::uint64_t limit) {
  WAVESMITH_ASSIGN(const std::vector<std::byte> bytes, readFile(path, limit));
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

Status publishFile(const std::string &path, std::span<const std::byte> bytes) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                                           : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty())
    return error(StatusCode::InvalidArgument, "write {}: names a directory, not a file", path);
  const FileDescriptor at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at)
    return systemError(errno, "open directory", directory);
  // The rename would put a file where a device or a pipe was.
  struct stat info{};
  if (::fstatat(at.get(), name.c_str(), &info, 0) == 0 && !S_ISREG(info.st_mode))
    return error(StatusCode::InvalidArgument, "write {}: is there and no regular file", path);
  return publishAt(at.get(), directory, name, std::span(&bytes, 1), 0666);
}

Expected<Directory> Directory::openPrivate(const std::string &path, Create create) {
  if (path.empty())
    return Status(StatusCode::InvalidArgument, "the directory's name is empty");
  const auto open = [&] {
    return retrying([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  };
  FileDescriptor fd(open());
  if (!fd && errno == ENOENT && create == Create::Yes) {
    WAVESMITH_TRY(makeDirectories(path));
    fd = FileDescriptor(open());
  }
  if (!fd)
    return systemError(errno, "open directory", path);
  struct ::stat info{};
  if (::fstat(fd.get(), &info) != 0)
    return systemError(errno, "stat", path);
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return error(StatusCode::InvalidArgument,
                 "directory {} belongs to user {}, not to {}: another user may write it", path,
                 info.st_uid, ::geteuid());
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return error(StatusCode::InvalidArgument,
                 "directory {} has mode {:04o}: another user may write it; chmod 700 it or name "
                 "another",
                 path, info.st_mode & 07777);
  return Directory(path, std::move(fd));
}

Expected<std::vector<std::byte>> Directory::read(const std::string &name, std::uint64_t limit,
                                                 FileEntry *entry) const {
  // Non-blocking, so that a fifo planted under the name cannot hang us.
  const FileDescriptor file(retrying([&] {
    return ::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  }));
  if (!file)
    return systemError(errno, "open", pathOf(name));
  return readDescriptor(file.get(), pathOf(name), limit, entry);
}

Status Directory::publish(const std::string &name,
                          std::span<const std::span<const std::byte>> parts) const {
  return publishAt(fd_.get(), path_, name, parts, 0600);
}

Status Directory::rename(const std::string &from, const std::string &to) const {
  if (retrying([&] { return ::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()); }) != 0)
    return systemError(errno, "rename", pathOf(from));
  return Status::ok();
}

Status Directory::remove(const std::string &name) const {
  if (retrying([&] { return ::unlinkat(fd_.get(), name.c_str(), 0); }) != 0 && errno != ENOENT)
    return systemError(errno, "remove", pathOf(name));
  return Status::ok();
}

Expected<FileEntry> Directory::stat(const std::string &name) const {
  struct ::stat info{};
  if (retrying([&] { return ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW); }) != 0)
    return systemError(errno, "stat", pathOf(name));
  return entryOf(name, info);
}

Expected<std::vector<FileEntry>> Directory::list() const {
  // A second description: readdir moves the offset that descriptors share.
  const int copy = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = copy >= 0 ? ::fdopendir(copy) : nullptr;
  if (!stream) {
    const int number = errno;
    if (copy >= 0)
      ::close(copy);
    return systemError(number, "list", path_);
  }
  std::vector<FileEntry> entries;
  while (const dirent *item = ::readdir(stream)) { // NOLINT(concurrency-mt-unsafe): own stream
    struct ::stat info{};
    // A file that vanished meanwhile is not an error: other processes evict too.
    if (::fstatat(fd_.get(), item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode))
      entries.push_back(entryOf(item->d_name, info));
  }
  ::closedir(stream);
  return entries;
}

Status Directory::touch(const std::string &name) const {
  if (::utimensat(fd_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0)
    return systemError(errno, "touch", pathOf(name));
  return Status::ok();
}

} // namespace wavesmith
