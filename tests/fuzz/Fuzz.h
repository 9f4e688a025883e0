#pragma once
// What the fuzz targets share: input as text, words or bytes, and the demand that a property holds.
// A target is one function that any bytes may be given to; a broken demand aborts, which libFuzzer
// and Replay.cpp both report with the input.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace wavesmith::fuzz {

inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

/// Every refusal says something.
inline void requireMessage(const Status &status) {
  require(!status.message().empty(), "an error has a message");
}

inline std::string_view text(const std::uint8_t *data, std::size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}
inline std::vector<std::byte> bytes(const std::uint8_t *data, std::size_t size) {
  std::vector<std::byte> copy(size);
  if (size)
    std::memcpy(copy.data(), data, size);
  return copy;
}
inline std::vector<std::uint32_t> words(const std::uint8_t *data, std::size_t size) {
  std::vector<std::uint32_t> copy(size / 4);
  if (!copy.empty())
    std::memcpy(copy.data(), data, 4 * copy.size());
  return copy;
}

} // namespace wavesmith::fuzz
