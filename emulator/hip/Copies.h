#pragma once
// Copies and fills as the API functions need them: checked, enqueued, and waited for where HIP
// promises it. Any thread.

#include <cstddef>
#include <cstdint>

#include "emulator/hip/Hip.h"

namespace wavesmith::hipfront {

/// Rows of `width` bytes.
struct Pitched {
  void *to;
  std::size_t toPitch;
  const void *from;
  std::size_t fromPitch;
  std::size_t width, height;
};
inline Pitched linear(void *to, const void *from, std::size_t bytes) {
  return {to, bytes, from, bytes, bytes, 1};
}

hipError_t copyAsync(const Pitched &copy, hipMemcpyKind kind, hipStream_t stream);
hipError_t copySync(const Pitched &copy, hipMemcpyKind kind, hipStream_t stream = nullptr);
/// Elements of 1, 2 or 4 bytes.
hipError_t fill(void *to, std::size_t pitch, std::uint32_t value, unsigned elementSize,
                std::size_t width, std::size_t height, hipStream_t stream, bool wait);

} // namespace wavesmith::hipfront
