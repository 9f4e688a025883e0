#include "runtime/capi/Call.h"

#include <algorithm>
#include <string>

#include "runtime/capi/Handles.h"

namespace wavesmith::capi {
namespace {

std::string &errorText() {
  thread_local std::string text;
  return text;
}

} // namespace

wavesmith_status fail(const char *function, StatusCode code, std::string_view message) noexcept {
  try {
    errorText() = fmt::format("{}: {}", function, message);
  } catch (...) {
    errorText().clear(); // no memory for the sentence: the code must do
  }
  return static_cast<wavesmith_status>(code);
}

const char *lastError() noexcept { return errorText().c_str(); }

Status checkTail(const void *from, std::size_t known, std::size_t size, std::string_view name) {
  constexpr std::size_t kMaxSize = 1 << 16;
  if (size > kMaxSize)
    return error(StatusCode::InvalidArgument, "{}.size is {}; it is sizeof the struct, here {}",
                 name, size, known);
  const auto *bytes = static_cast<const std::byte *>(from);
  const auto *unknown =
      std::find_if(bytes + known, bytes + size, [](std::byte byte) { return byte != std::byte{}; });
  if (unknown == bytes + size)
    return Status::ok();
  return error(StatusCode::Unsupported,
               "{}.size is {}, this library knows {} bytes of it, and byte {} is not 0: the caller "
               "asks for what a newer library does",
               name, size, known, unknown - bytes);
}

const char *kindName(HandleKind kind) {
  switch (kind) {
  case HandleKind::Context:
    return "context";
  case HandleKind::Plan:
    return "plan";
  case HandleKind::Pass:
    return "context pass";
  case HandleKind::Collector:
    return "collector";
  case HandleKind::Scales:
    return "set of scales";
  }
  return "handle";
}

Status badHandle(std::uint64_t handle, HandleKind wanted) {
  if (handle == 0)
    return error(StatusCode::InvalidArgument, "the {} is null", kindName(wanted));
  const auto kind = static_cast<HandleKind>(handle & 0xff);
  if (kind != wanted && kind >= HandleKind::Context && kind <= HandleKind::Scales)
    return error(StatusCode::InvalidArgument, "0x{:x} is a {}, not a {}", handle, kindName(kind),
                 kindName(wanted));
  return error(StatusCode::InvalidArgument, "the {} 0x{:x} was destroyed or never made",
               kindName(wanted), handle);
}

} // namespace wavesmith::capi
