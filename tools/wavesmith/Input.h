#pragma once
// Reading the files that a user names: one that cannot be read is bad input, not a broken machine.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/support/Files.h"
#include "runtime/support/Status.h"

namespace wavesmith::cli {

/// Code objects are at most a few megabytes; a limit keeps a wrong path from filling memory.
inline constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{1} << 30;

inline Expected<std::vector<std::byte>> readInput(const std::string &path) {
  auto bytes = readFile(path, kMaxObjectBytes);
  if (bytes)
    return bytes;
  return Status(StatusCode::InvalidArgument, bytes.status().message());
}

} // namespace wavesmith::cli
