#pragma once
// SHA-256 (libcrypto), the only hash of keys and checksums. Values; any thread.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace wavesmith {

/// 64 lower-case hex digits.
std::string sha256Hex(std::span<const std::byte> bytes);
std::string sha256Hex(std::string_view text);
/// Over the concatenation of the parts, without building it.
std::string sha256Hex(std::span<const std::span<const std::byte>> parts);

inline std::span<const std::byte> asBytes(std::string_view text) {
  return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

} // namespace wavesmith
