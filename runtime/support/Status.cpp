#include "runtime/support/Status.h"

namespace wavesmith {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid-argument";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::NotFound:
    return "not-found";
  case StatusCode::ResourceExhausted:
    return "resource-exhausted";
  case StatusCode::CompileFailed:
    return "compile-failed";
  case StatusCode::DeviceError:
    return "device-error";
  case StatusCode::EmulationFault:
    return "emulation-fault";
  case StatusCode::Io:
    return "io";
  case StatusCode::Internal:
    return "internal";
  case StatusCode::Cancelled:
    return "cancelled";
  case StatusCode::Timeout:
    return "timeout";
  case StatusCode::Corrupt:
    return "corrupt";
  case StatusCode::VerificationFailed:
    return "verification-failed";
  case StatusCode::JitForbidden:
    return "jit-forbidden";
  }
  return "unknown";
}

} // namespace wavesmith
