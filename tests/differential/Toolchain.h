#pragma once
// clang for the device and for the host, in a temporary directory of its own. One per thread.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith::differential {

/// A program's entry on the host.
using HostEntry = void (*)(const std::byte *in, std::byte *out, std::byte *shared,
                           const void *params, unsigned groups);

class HostLibrary {
public:
  explicit HostLibrary(void *handle) : handle_(handle) {}
  HostLibrary(HostLibrary &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  HostLibrary &operator=(HostLibrary &&) = delete;
  ~HostLibrary();
  HostEntry entry(const std::string &program) const; ///< or null

private:
  void *handle_;
};

class Toolchain {
public:
  static Expected<Toolchain> create(); ///< an error says what is missing
  Toolchain(Toolchain &&other) noexcept : directory_(std::exchange(other.directory_, {})) {}
  Toolchain &operator=(Toolchain &&) = delete;
  ~Toolchain();

  /// The linked code object. An error carries the compiler's first lines.
  Expected<std::vector<std::byte>>
  compileForDevice(const std::string &source, const std::string &target, const std::string &level);
  Expected<HostLibrary> compileForHost(const std::string &source);

private:
  explicit Toolchain(std::filesystem::path directory) : directory_(std::move(directory)) {}
  Expected<std::filesystem::path> compile(const std::string &source, const std::string &options);

  std::filesystem::path directory_;
  int files_ = 0;
};

} // namespace wavesmith::differential
