#pragma once
// What lies in a disk cache's directory, for tools: every file by kind, entries with what they say
// and whether they are whole. Looking changes nothing. Pure functions over the file system.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/support/Files.h"

namespace wavesmith {

enum class CacheFileKind : std::uint8_t {
  Entry,     ///< "<spec key>-<build key>.wsobj"
  Damaged,   ///< an entry that was set aside
  Lock,      ///< of an entry that somebody makes, or was killed while making
  Temporary, ///< an entry that somebody writes, or was killed while writing
  Foreign,   ///< none of ours
};
CacheFileKind cacheFileKind(std::string_view name);

inline constexpr std::string_view kEntrySuffix = ".wsobj", kDamagedSuffix = ".damaged",
                                  kLockSuffix = ".lock";

struct CacheFile {
  FileEntry file;
  CacheFileKind kind = CacheFileKind::Foreign;
  // Of entries:
  std::string damage; ///< why get() would set it aside; "" = it is whole
  std::string specText, buildKey, kernelName, target;
  bool verified = false; ///< carries a verification record of its object
};

/// Every regular file of the directory, the most recently used first. NotFound when there is no
/// directory.
Expected<std::vector<CacheFile>> inspectCache(const std::string &directory);
/// Removes every file of ours, and says how many and of how many bytes.
struct Removed {
  std::uint64_t files = 0, bytes = 0;
};
Expected<Removed> clearCache(const std::string &directory);

} // namespace wavesmith
