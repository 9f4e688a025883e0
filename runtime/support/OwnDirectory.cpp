#include "runtime/support/OwnDirectory.h"

#include <dlfcn.h>
#include <unistd.h>

namespace wavesmith {

std::string ownDirectory() {
  Dl_info info{};
  std::string self;
  if (::dladdr(reinterpret_cast<const void *>(&ownDirectory), &info) && info.dli_fname)
    self = info.dli_fname;
  if (!self.starts_with('/')) {
    // A non-PIC executable reports argv[0], which may be relative to a directory since left.
    std::string link(4096, '\0');
    const ssize_t length = ::readlink("/proc/self/exe", link.data(), link.size());
    if (length > 0)
      self = link.substr(0, static_cast<std::size_t>(length));
  }
  const std::size_t slash = self.rfind('/');
  return slash == std::string::npos ? "" : self.substr(0, slash);
}

} // namespace wavesmith
