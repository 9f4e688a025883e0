#pragma once
// The launch file of `wavesmith exec` (docs/launch-json.md) as a value: objects read, buffers read
// and sized, every kernel-argument block laid out except for the addresses. Whatever is wrong in
// the file is found here, before a device is touched. Plain values.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/support/Status.h"

namespace wavesmith {

struct LaunchBuffer {
  std::string name;
  std::uint64_t bytes = 0;
  enum class Fill { Content, Nothing, Byte, NanFloat } fill = Fill::Nothing;
  std::byte value{0};             ///< for Byte
  std::vector<std::byte> content; ///< for Content
  std::string out;                ///< absolute path, or empty
};

struct LaunchEntry {
  const CodeObject *object = nullptr; ///< of the file's objects
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamicLds = 0;
  std::vector<std::byte> kernarg; ///< explicit arguments; addresses still zero
  struct Address {
    std::size_t offset = 0;  ///< in kernarg
    std::size_t buffer = 0;  ///< index in buffers
    std::uint64_t delta = 0; ///< byte_offset
  };
  std::vector<Address> addresses;
};

struct LaunchFile {
  /// One object for all launches; the field of the contract is top-level.
  std::shared_ptr<const CodeObject> object;
  std::string objectPath;
  std::vector<LaunchBuffer> buffers;
  std::vector<LaunchEntry> launches;
};

/// Reads the file and everything that it names.
Expected<LaunchFile> readLaunchFile(const std::string &path);
/// The same from text; relative paths start at `directory`, `origin` leads every message.
Expected<LaunchFile> parseLaunchFile(std::string_view text, const std::string &directory,
                                     std::string_view origin);

} // namespace wavesmith
