#pragma once
// What every function of the C interface goes through: no exception leaves, an error's sentence is
// kept for the thread, structs of other sizes are read and written by their common part.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "include/wavesmith/wavesmith.h"
#include "runtime/support/Status.h"

namespace wavesmith::capi {

/// Keeps "function: message" for wavesmith_last_error() and gives the code.
wavesmith_status fail(const char *function, StatusCode code, std::string_view message) noexcept;
const char *lastError() noexcept;

/// Runs the body, which returns a Status.
template <typename Body> wavesmith_status call(const char *function, Body &&body) noexcept {
  try {
    const Status status = body();
    if (status.isOk()) [[likely]]
      return WAVESMITH_OK;
    return fail(function, status.code(), status.message());
  } catch (const std::bad_alloc &) {
    return fail(function, StatusCode::ResourceExhausted, "out of host memory");
  } catch (const std::exception &exception) {
    return fail(function, StatusCode::Internal, exception.what());
  } catch (...) {
    return fail(function, StatusCode::Internal, "unknown exception");
  }
}

inline Status isNull(std::string_view name) {
  return error(StatusCode::InvalidArgument, "{} is null", name);
}

/// The part of a user's struct behind what we know must be zero.
Status checkTail(const void *from, std::size_t known, std::size_t size, std::string_view name);

/// Copies the user's struct: what its size leaves out is 0. `required` bytes must be there.
template <typename T>
Status readStruct(const T *from, T &to, std::size_t required, std::string_view name) {
  if (!from)
    return isNull(name);
  if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) != 0)
    return error(StatusCode::InvalidArgument, "{} is at {}; it must be aligned to {} bytes", name,
                 static_cast<const void *>(from), alignof(T));
  const std::size_t size = from->size;
  if (size < required)
    return error(StatusCode::InvalidArgument,
                 "{}.size is {}; it is sizeof the struct, at least {} bytes (this library: {})",
                 name, size, required, sizeof(T));
  if (size % alignof(T) != 0)
    return error(StatusCode::InvalidArgument,
                 "{}.size is {}; it is sizeof the struct, a multiple of {}", name, size,
                 alignof(T));
  if (size > sizeof(T)) [[unlikely]]
    WAVESMITH_TRY(checkTail(from, sizeof(T), size, name));
  if (size >= sizeof(T)) [[likely]] {
    to = *from;
  } else {
    to = T{};
    std::memcpy(&to, from, size);
  }
  to.size = sizeof(T);
  return Status::ok();
}

/// Fills as much of the user's struct as it has; what we do not know of it becomes 0.
template <typename T> Status writeStruct(T *to, const T &from, std::string_view name) {
  if (!to)
    return isNull(name);
  if (reinterpret_cast<std::uintptr_t>(to) % alignof(T) != 0)
    return error(StatusCode::InvalidArgument, "{} is at {}; it must be aligned to {} bytes", name,
                 static_cast<void *>(to), alignof(T));
  const std::size_t size = to->size;
  constexpr std::size_t kMaxSize = 1 << 16; // a size that was never set
  if (size < sizeof(std::size_t) || size > kMaxSize)
    return error(StatusCode::InvalidArgument,
                 "{}.size is {}; set it to sizeof the struct (this library: {}) before the call",
                 name, size, sizeof(T));
  auto *bytes = reinterpret_cast<std::byte *>(to);
  const std::size_t known = std::min(size, sizeof(T));
  std::memcpy(bytes + sizeof(std::size_t),
              reinterpret_cast<const std::byte *>(&from) + sizeof(std::size_t),
              known - sizeof(std::size_t));
  std::memset(bytes + known, 0, size - known);
  return Status::ok();
}

} // namespace wavesmith::capi
