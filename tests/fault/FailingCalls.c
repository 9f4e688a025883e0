/* Preloaded into a process: system calls on files below $FAULT_PREFIX fail as $FAULT says:
 * "CALL:ERRNO:COUNT", the first COUNT of them, or all if COUNT is 0. "write" also writes half of
 * what it was given before it fails, as a disk does that fills up. Everything else is passed on.
 * The file $FAULT_SEEN tells that a call failed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int calls;

static int below(const char *path) {
  const char *prefix = getenv("FAULT_PREFIX");
  return prefix && strncmp(path, prefix, strlen(prefix)) == 0;
}

static int descriptorBelow(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size <= 0)
    return 0;
  path[size] = 0;
  return below(path);
}

static int at(int directory, const char *path) {
  return path[0] == '/' ? below(path) : descriptorBelow(directory);
}

/* Whether this call of that name fails; then errno says why. */
static int fails(const char *name) {
  const char *fault = getenv("FAULT");
  size_t size = strlen(name);
  if (!fault || strncmp(fault, name, size) != 0 || fault[size] != ':')
    return 0;
  int number = 0, count = 0;
  if (sscanf(fault + size + 1, "%d:%d", &number, &count) != 2)
    abort();
  if (count != 0 && atomic_fetch_add(&calls, 1) >= count)
    return 0;
  const char *seen = getenv("FAULT_SEEN");
  if (seen)
    mknod(seen, S_IFREG | 0600, 0);
  errno = number;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static mode_t modeOf(int flags, va_list list) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = modeOf(flags, list);
  va_end(list);
  return below(path) && fails("open") ? -1 : NEXT(open)(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = modeOf(flags, list);
  va_end(list);
  return at(directory, path) && fails("openat") ? -1 : NEXT(openat)(directory, path, flags, mode);
}

int mkdir(const char *path, mode_t mode) {
  return below(path) && fails("mkdir") ? -1 : NEXT(mkdir)(path, mode);
}

int renameat(int from, const char *a, int to, const char *b) {
  return at(from, a) && fails("renameat") ? -1 : NEXT(renameat)(from, a, to, b);
}

int unlinkat(int directory, const char *path, int flags) {
  return at(directory, path) && fails("unlinkat") ? -1 : NEXT(unlinkat)(directory, path, flags);
}

int fstatat(int directory, const char *path, struct stat *info, int flags) {
  return at(directory, path) && fails("fstatat") ? -1 : NEXT(fstatat)(directory, path, info, flags);
}

int fstat(int fd, struct stat *info) {
  return descriptorBelow(fd) && fails("fstat") ? -1 : NEXT(fstat)(fd, info);
}

int fsync(int fd) { return descriptorBelow(fd) && fails("fsync") ? -1 : NEXT(fsync)(fd); }

ssize_t read(int fd, void *to, size_t size) {
  return descriptorBelow(fd) && fails("read") ? -1 : NEXT(read)(fd, to, size);
}

ssize_t write(int fd, const void *from, size_t size) {
  if (descriptorBelow(fd) && fails("write")) {
    int number = errno;
    if (size > 1 && number != EINTR)
      (void)!NEXT(write)(fd, from, size / 2);
    errno = number;
    return -1;
  }
  return NEXT(write)(fd, from, size);
}

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return descriptorBelow(fd) && fails("fcntl") ? -1 : NEXT(fcntl)(fd, command, argument);
}

int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
  return at(directory, path) && fails("utimensat") ? -1
                                                   : NEXT(utimensat)(directory, path, times, flags);
}
